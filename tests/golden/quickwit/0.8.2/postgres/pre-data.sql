--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: shard_state; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.shard_state AS ENUM (
    'unspecified',
    'open',
    'unavailable',
    'closed'
);


--
-- Name: quickwit_manage_update_timestamp(regclass); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.quickwit_manage_update_timestamp(_tbl regclass) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    EXECUTE format('DROP TRIGGER IF EXISTS set_update_timestamp ON %s CASCADE', _tbl);
    EXECUTE format('CREATE TRIGGER set_update_timestamp BEFORE UPDATE ON %s
                    FOR EACH ROW EXECUTE PROCEDURE quickwit_set_update_timestamp()', _tbl);
END;
$$;


--
-- Name: quickwit_set_update_timestamp(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.quickwit_set_update_timestamp() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF (
        NEW IS DISTINCT FROM OLD AND
        NEW.update_timestamp IS NOT DISTINCT FROM OLD.update_timestamp
    ) THEN
        NEW.update_timestamp := (CURRENT_TIMESTAMP AT TIME ZONE 'UTC');
    END IF;
    RETURN NEW;
END;
$$;


--
-- Name: set_index_update_timestamp_for_split(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.set_index_update_timestamp_for_split() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF (TG_OP = 'INSERT' OR TG_OP = 'UPDATE') THEN
        UPDATE indexes SET update_timestamp = NEW.update_timestamp
        WHERE indexes.index_id = NEW.index_id;
    ELSIF (TG_OP = 'DELETE') THEN
        UPDATE indexes SET update_timestamp = (CURRENT_TIMESTAMP AT TIME ZONE 'UTC')
        WHERE indexes.index_id = OLD.index_id;
    END IF;
    RETURN NULL;
END;

$$;


--
-- Name: set_split_publish_timestamp_for_split(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.set_split_publish_timestamp_for_split() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF (TG_OP = 'UPDATE') AND (NEW.split_state = 'Published') AND (OLD.split_state = 'Staged') THEN
        NEW.publish_timestamp := (CURRENT_TIMESTAMP AT TIME ZONE 'UTC');
    END IF;
    RETURN NEW;
END;

$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: _sqlx_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public._sqlx_migrations (
    version bigint NOT NULL,
    description text NOT NULL,
    installed_on timestamp with time zone DEFAULT now() NOT NULL,
    success boolean NOT NULL,
    checksum bytea NOT NULL,
    execution_time bigint NOT NULL
);


--
-- Name: delete_tasks; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.delete_tasks (
    create_timestamp timestamp without time zone DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'::text) NOT NULL,
    opstamp bigint NOT NULL,
    index_uid character varying(282) NOT NULL,
    delete_query_json text NOT NULL
);


--
-- Name: delete_tasks_opstamp_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.delete_tasks_opstamp_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: delete_tasks_opstamp_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.delete_tasks_opstamp_seq OWNED BY public.delete_tasks.opstamp;


--
-- Name: index_templates; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.index_templates (
    template_id character varying(255) NOT NULL,
    positive_index_id_patterns character varying(255)[] NOT NULL,
    negative_index_id_patterns character varying(255)[] NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    index_template_json text NOT NULL
);


--
-- Name: indexes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.indexes (
    index_uid character varying(282) NOT NULL,
    index_metadata_json text NOT NULL,
    create_timestamp timestamp without time zone DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'::text) NOT NULL,
    index_id character varying(255) DEFAULT ''::character varying NOT NULL
);


--
-- Name: shards; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.shards (
    index_uid character varying(282) NOT NULL,
    source_id character varying(255) NOT NULL,
    shard_id character varying(255) NOT NULL,
    leader_id character varying(255) NOT NULL,
    follower_id character varying(255),
    shard_state public.shard_state DEFAULT 'open'::public.shard_state NOT NULL,
    publish_position_inclusive character varying(255) DEFAULT ''::character varying NOT NULL,
    publish_token character varying(255)
);


--
-- Name: shards_shard_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.shards_shard_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: shards_shard_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.shards_shard_id_seq OWNED BY public.shards.shard_id;


--
-- Name: splits; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.splits (
    split_id character varying(50) NOT NULL,
    split_state character varying(30) NOT NULL,
    time_range_start bigint,
    time_range_end bigint,
    tags text[] NOT NULL,
    split_metadata_json text NOT NULL,
    index_uid character varying(282) NOT NULL,
    create_timestamp timestamp without time zone DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'::text) NOT NULL,
    update_timestamp timestamp without time zone DEFAULT (CURRENT_TIMESTAMP AT TIME ZONE 'UTC'::text) NOT NULL,
    publish_timestamp timestamp without time zone,
    delete_opstamp bigint DEFAULT 0,
    maturity_timestamp timestamp without time zone DEFAULT to_timestamp((0)::double precision),
    CONSTRAINT splits_delete_opstamp_check CHECK ((delete_opstamp >= 0))
);


--
-- Name: delete_tasks opstamp; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delete_tasks ALTER COLUMN opstamp SET DEFAULT nextval('public.delete_tasks_opstamp_seq'::regclass);


--
-- Name: shards shard_id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.shards ALTER COLUMN shard_id SET DEFAULT nextval('public.shards_shard_id_seq'::regclass);


