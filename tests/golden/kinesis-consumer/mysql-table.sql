-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
-- Server version	10.11.19-MariaDB-0+deb12u1

CREATE TABLE `kinesis_consumer` (
  `namespace` varchar(255) NOT NULL,
  `shard_id` varchar(255) NOT NULL,
  `sequence_number` decimal(65,0) NOT NULL,
  PRIMARY KEY (`namespace`,`shard_id`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
