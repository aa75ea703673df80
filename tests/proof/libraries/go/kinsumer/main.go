// Runs snowplow-devops/kinsumer v1.7.0 as published, with short intervals, many applications at once.
package main

import (
	"context"
	"fmt"
	"log"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/twitchscience/kinsumer"
	"reshardctl.test/lines"
)

func main() {
	log.SetFlags(log.Lmicroseconds)
	lines.Serve(run)
}

func run(ctx context.Context, settings lines.Settings, say lines.Say) error {
	config, err := configured(settings)
	if err != nil {
		return err
	}
	cfg := aws.Config{
		Region:      "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("testing", "testing", ""),
	}
	streams := kinesis.NewFromConfig(cfg, func(o *kinesis.Options) {
		o.BaseEndpoint = aws.String(settings["kinesis"])
	})
	tables := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.BaseEndpoint = aws.String(settings["dynamodb"])
	})
	reader, err := kinsumer.NewWithInterfaces(
		streams, tables, settings["stream"], settings["app"], "judge", "", config)
	if err != nil {
		return err
	}
	if settings["create"] != "" {
		if err := reader.CreateRequiredTables(); err != nil {
			return err
		}
	}
	if err := reader.Run(); err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		reader.Stop()
	}()
	return deliver(ctx, reader, say)
}

// A minute each by default. A client or an owner is taken for dead after five shard checks.
func configured(settings lines.Settings) (kinsumer.Config, error) {
	config := kinsumer.NewConfig().
		WithThrottleDelay(500 * time.Millisecond).
		WithCommitFrequency(500 * time.Millisecond).
		WithShardCheckFrequency(time.Second).
		WithLeaderActionFrequency(time.Second)
	if at := settings["timestamp"]; at != "" {
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return config, err
		}
		when := time.Unix(seconds, 0)
		config = config.WithIteratorStartTimestamp(&when)
	}
	return config, nil
}

// deliver reports each record that the application is given. Errors are one shard's or one round's:
// the library goes on after them.
func deliver(ctx context.Context, reader *kinsumer.Kinsumer, say lines.Say) error {
	for {
		record, err := reader.NextRecord()
		switch {
		case err != nil:
			say("ERROR", "error", err.Error())
		case record != nil:
			say("RECORD", "key", aws.ToString(record.PartitionKey), "payload", string(record.Data))
		case ctx.Err() != nil:
			return nil
		default:
			return fmt.Errorf("it has stopped by itself")
		}
	}
}
