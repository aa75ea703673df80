"""Stores: one folder for each medium, I/O only. They know no library and no plan.

`base` has the interface of a store: five members, and guarded writes.

Other rooms import `base`, `dynamodb`, `dynamodb.catalog`, `dynamodb.client`, `dynamodb.described`,
`files.archive`, `files.blobs`, `files.local`, `files.s3`, `files.swapping`, `files.system`,
`files.tree`, `given_file`, `named_file`, `new_file`, `quickwit`, `quickwit.postgres`,
`quickwit.rest`, `redis`, `sql`, `sql.mysql`, `sql.postgres`, `sql.server`. Read `base` first.
"""
