variable "name" {
  description = "Begins the names of both roles and service accounts: NAME-inspect and NAME-fix."
  type        = string
  default     = "reshardctl"
}

variable "region" {
  description = "Region of the stream and of the lease table. Null means that of the provider."
  type        = string
  default     = null
}

variable "stream" {
  description = "Name of the Kinesis stream."
  type        = string
}

variable "lease_table" {
  description = "Name of the DynamoDB table that holds the positions (KCL's application name)."
  type        = string
}

variable "read_records" {
  description = "Whether the roles may read records, for --probe, --count and policies by time."
  type        = bool
  default     = false
}

variable "name_other_streams" {
  description = "Whether the roles may list the account's streams, to name the one that a position is of."
  type        = bool
  default     = false
}

variable "journal_bucket" {
  description = "Bucket that keeps the journals of repairs."
  type        = string
}

variable "journal_prefix" {
  description = "Prefix of the journals in the bucket, without a slash at either end."
  type        = string
  default     = "reshardctl"
}

variable "oidc_provider_arn" {
  description = "ARN of the IAM OIDC provider of the EKS cluster."
  type        = string
}

variable "oidc_issuer" {
  description = "Issuer of the EKS cluster, without https://."
  type        = string
}

variable "namespace" {
  description = "Kubernetes namespace of the service accounts."
  type        = string
  default     = "default"
}
