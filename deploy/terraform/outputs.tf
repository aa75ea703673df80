output "role_arns" {
  description = "Role of each service account: the value of eks.amazonaws.com/role-arn."
  value       = { for name, role in aws_iam_role.reshardctl : name => role.arn }
}
