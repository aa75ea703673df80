# IAM for reshardctl: one role that inspects and one that may also repair, each for a Kubernetes
# service account (IRSA). The policies are those of docs/iam.md, with your names in them.
terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  region    = coalesce(var.region, data.aws_region.current.name)
  account   = data.aws_caller_identity.current.account_id
  partition = data.aws_partition.current.partition
  at        = "${local.region}:${local.account}"

  arns = {
    every_stream   = "arn:${local.partition}:kinesis:${local.at}:stream/*"
    stream         = "arn:${local.partition}:kinesis:${local.at}:stream/${var.stream}"
    table          = "arn:${local.partition}:dynamodb:${local.at}:table/${var.lease_table}"
    journal_bucket = "arn:${local.partition}:s3:::${var.journal_bucket}"
    journal_prefix = var.journal_prefix
  }

  # The policies of each role. A repair keeps its journal in the bucket.
  policies = {
    inspect = concat([var.read_records ? "probe" : "inspect"], local.naming)
    fix     = concat(["fix"], var.read_records ? ["probe"] : [], local.naming, ["journal"])
  }
  naming = var.name_other_streams ? ["name"] : []
  attached = merge([
    for role, names in local.policies : { for name in names : "${role}-${name}" => { role = role, policy = name } }
  ]...)
}

data "aws_iam_policy_document" "service_account" {
  for_each = local.policies

  statement {
    actions = ["sts:AssumeRoleWithWebIdentity"]

    principals {
      type        = "Federated"
      identifiers = [var.oidc_provider_arn]
    }

    condition {
      test     = "StringEquals"
      variable = "${var.oidc_issuer}:sub"
      values   = ["system:serviceaccount:${var.namespace}:${var.name}-${each.key}"]
    }

    condition {
      test     = "StringEquals"
      variable = "${var.oidc_issuer}:aud"
      values   = ["sts.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "reshardctl" {
  for_each = local.policies

  name               = "${var.name}-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.service_account[each.key].json
}

resource "aws_iam_role_policy" "reshardctl" {
  for_each = local.attached

  name   = each.value.policy
  role   = aws_iam_role.reshardctl[each.value.role].id
  policy = templatefile("${path.module}/policies/${each.value.policy}.json", local.arns)
}
