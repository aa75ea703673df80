--
-- Name: _sqlx_migrations _sqlx_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public._sqlx_migrations
    ADD CONSTRAINT _sqlx_migrations_pkey PRIMARY KEY (version);


--
-- Name: delete_tasks delete_tasks_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delete_tasks
    ADD CONSTRAINT delete_tasks_pkey PRIMARY KEY (opstamp);


--
-- Name: index_templates index_templates_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.index_templates
    ADD CONSTRAINT index_templates_pkey PRIMARY KEY (template_id);


--
-- Name: indexes indexes_index_id_unique; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.indexes
    ADD CONSTRAINT indexes_index_id_unique UNIQUE (index_id);


--
-- Name: indexes indexes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.indexes
    ADD CONSTRAINT indexes_pkey PRIMARY KEY (index_uid);


--
-- Name: shards shards_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.shards
    ADD CONSTRAINT shards_pkey PRIMARY KEY (index_uid, source_id, shard_id);


--
-- Name: splits splits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.splits
    ADD CONSTRAINT splits_pkey PRIMARY KEY (split_id);


--
-- Name: splits_index_uid_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX splits_index_uid_idx ON public.splits USING hash (index_uid);


--
-- Name: delete_tasks delete_tasks_index_uid_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delete_tasks
    ADD CONSTRAINT delete_tasks_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES public.indexes(index_uid) ON DELETE CASCADE;


--
-- Name: shards shards_index_uid_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.shards
    ADD CONSTRAINT shards_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES public.indexes(index_uid) ON DELETE CASCADE;


--
-- Name: splits splits_index_uid_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.splits
    ADD CONSTRAINT splits_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES public.indexes(index_uid) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


