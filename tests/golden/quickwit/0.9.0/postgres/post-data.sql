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
-- Name: indexes indexes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.indexes
    ADD CONSTRAINT indexes_pkey PRIMARY KEY (index_uid);


--
-- Name: kv kv_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kv
    ADD CONSTRAINT kv_pkey PRIMARY KEY (key);


--
-- Name: metrics_splits metrics_splits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metrics_splits
    ADD CONSTRAINT metrics_splits_pkey PRIMARY KEY (split_id);


--
-- Name: shards shards_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.shards
    ADD CONSTRAINT shards_pkey PRIMARY KEY (index_uid, source_id, shard_id);


--
-- Name: sketch_splits sketch_splits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sketch_splits
    ADD CONSTRAINT sketch_splits_pkey PRIMARY KEY (split_id);


--
-- Name: splits splits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.splits
    ADD CONSTRAINT splits_pkey PRIMARY KEY (index_uid, split_id);


--
-- Name: idx_metrics_splits_compaction_scope; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_metrics_splits_compaction_scope ON public.metrics_splits USING btree (index_uid, sort_fields, window_start) WHERE ((split_state)::text = 'Published'::text);


--
-- Name: idx_metrics_splits_metric_names; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_metrics_splits_metric_names ON public.metrics_splits USING gin (metric_names);


--
-- Name: idx_metrics_splits_tag_datacenter; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_metrics_splits_tag_datacenter ON public.metrics_splits USING gin (tag_datacenter);


--
-- Name: idx_metrics_splits_tag_env; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_metrics_splits_tag_env ON public.metrics_splits USING gin (tag_env);


--
-- Name: idx_metrics_splits_tag_host; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_metrics_splits_tag_host ON public.metrics_splits USING gin (tag_host);


--
-- Name: idx_metrics_splits_tag_region; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_metrics_splits_tag_region ON public.metrics_splits USING gin (tag_region);


--
-- Name: idx_metrics_splits_tag_service; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_metrics_splits_tag_service ON public.metrics_splits USING gin (tag_service);


--
-- Name: idx_metrics_splits_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_metrics_splits_time ON public.metrics_splits USING btree (time_range_start, time_range_end);


--
-- Name: idx_sketch_splits_compaction_scope; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_sketch_splits_compaction_scope ON public.sketch_splits USING btree (index_uid, sort_fields, window_start) WHERE ((split_state)::text = 'Published'::text);


--
-- Name: idx_sketch_splits_metric_names; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_sketch_splits_metric_names ON public.sketch_splits USING gin (metric_names);


--
-- Name: idx_sketch_splits_tag_datacenter; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_sketch_splits_tag_datacenter ON public.sketch_splits USING gin (tag_datacenter);


--
-- Name: idx_sketch_splits_tag_env; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_sketch_splits_tag_env ON public.sketch_splits USING gin (tag_env);


--
-- Name: idx_sketch_splits_tag_host; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_sketch_splits_tag_host ON public.sketch_splits USING gin (tag_host);


--
-- Name: idx_sketch_splits_tag_region; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_sketch_splits_tag_region ON public.sketch_splits USING gin (tag_region);


--
-- Name: idx_sketch_splits_tag_service; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_sketch_splits_tag_service ON public.sketch_splits USING gin (tag_service);


--
-- Name: idx_sketch_splits_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_sketch_splits_time ON public.sketch_splits USING btree (time_range_start, time_range_end);


--
-- Name: idx_splits_stats; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idx_splits_stats ON public.splits USING btree (index_uid, split_state) INCLUDE (split_size_bytes);


--
-- Name: indexes_index_id_unique; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX indexes_index_id_unique ON public.indexes USING btree (index_id varchar_pattern_ops);


--
-- Name: splits_maturity_timestamp_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX splits_maturity_timestamp_idx ON public.splits USING btree (maturity_timestamp, split_id);


--
-- Name: splits_node_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX splits_node_id_idx ON public.splits USING hash (node_id);


--
-- Name: splits_time_range_end_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX splits_time_range_end_idx ON public.splits USING btree (time_range_end);


--
-- Name: splits_time_range_start_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX splits_time_range_start_idx ON public.splits USING btree (time_range_start);


--
-- Name: metrics_splits set_publish_timestamp_on_metrics_split_publish; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER set_publish_timestamp_on_metrics_split_publish BEFORE UPDATE ON public.metrics_splits FOR EACH ROW EXECUTE FUNCTION public.set_publish_timestamp_for_metrics_split();


--
-- Name: sketch_splits set_publish_timestamp_on_sketch_split_publish; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER set_publish_timestamp_on_sketch_split_publish BEFORE UPDATE ON public.sketch_splits FOR EACH ROW EXECUTE FUNCTION public.set_publish_timestamp_for_sketch_split();


--
-- Name: delete_tasks delete_tasks_index_uid_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.delete_tasks
    ADD CONSTRAINT delete_tasks_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES public.indexes(index_uid) ON DELETE CASCADE;


--
-- Name: metrics_splits metrics_splits_index_uid_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.metrics_splits
    ADD CONSTRAINT metrics_splits_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES public.indexes(index_uid);


--
-- Name: shards shards_index_uid_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.shards
    ADD CONSTRAINT shards_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES public.indexes(index_uid) ON DELETE CASCADE;


--
-- Name: sketch_splits sketch_splits_index_uid_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sketch_splits
    ADD CONSTRAINT sketch_splits_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES public.indexes(index_uid) ON DELETE CASCADE;


--
-- Name: splits splits_index_uid_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.splits
    ADD CONSTRAINT splits_index_uid_fkey FOREIGN KEY (index_uid) REFERENCES public.indexes(index_uid) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


