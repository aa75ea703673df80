// Runs harlow/kinesis-consumer v0.5.0 as published, many applications at once.
package main

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	consumer "github.com/harlow/kinesis-consumer"
	"reshardctl.test/lines"
)

func main() {
	lines.Serve(run)
}

func run(ctx context.Context, settings lines.Settings, say lines.Say) error {
	store, err := storeOf(settings)
	if err != nil {
		return err
	}
	defer store.close()
	options := []consumer.Option{
		consumer.WithStore(store),
		consumer.WithClient(streams(settings["kinesis"])),
		consumer.WithScanInterval(500 * time.Millisecond),
		consumer.WithShardIteratorType(settings["initial"]),
		consumer.WithLogger(logger{say}),
	}
	if at := settings["timestamp"]; at != "" {
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return err
		}
		options = append(options, consumer.WithTimestamp(time.Unix(seconds, 0)))
	}
	reader, err := consumer.New(settings["stream"], options...)
	if err != nil {
		return err
	}
	return reader.Scan(ctx, func(record *consumer.Record) error {
		say("RECORD", "key", aws.ToString(record.PartitionKey), "payload", string(record.Data))
		return nil
	})
}

func config() aws.Config {
	return aws.Config{
		Region:      "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("testing", "testing", ""),
	}
}

func streams(address string) *kinesis.Client {
	return kinesis.NewFromConfig(config(), func(o *kinesis.Options) {
		o.BaseEndpoint = aws.String(address)
	})
}

type logger struct{ say lines.Say }

func (l logger) Log(words ...interface{}) {
	l.say("LOG", "words", sprint(words))
}
