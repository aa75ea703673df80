-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

CREATE TABLE public.kinesis_consumer (
    namespace text NOT NULL,
    shard_id text NOT NULL,
    sequence_number numeric NOT NULL
);

ALTER TABLE ONLY public.kinesis_consumer
    ADD CONSTRAINT kinesis_consumer_pk PRIMARY KEY (namespace, shard_id);
