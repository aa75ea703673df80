package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	consumer "github.com/harlow/kinesis-consumer"
	"github.com/harlow/kinesis-consumer/store/ddb"
	"github.com/harlow/kinesis-consumer/store/mysql"
	"github.com/harlow/kinesis-consumer/store/postgres"
	"github.com/harlow/kinesis-consumer/store/redis"
	goredis "github.com/redis/go-redis/v9"
	"reshardctl.test/lines"
)

const flush = time.Second // a minute by default

type store struct {
	consumer.Store
	shutdown func() error
}

func (s store) close() {
	if s.shutdown != nil {
		s.shutdown()
	}
}

// storeOf makes the library's own store of that name.
func storeOf(settings lines.Settings) (store, error) {
	app, table := settings["app"], settings["table"]
	switch kind := settings["store"]; kind {
	case "ddb":
		client := dynamodb.NewFromConfig(config(), func(o *dynamodb.Options) {
			o.BaseEndpoint = aws.String(settings["dynamodb"])
		})
		kept, err := ddb.New(app, table, ddb.WithDynamoClient(client), ddb.WithMaxInterval(flush))
		if err != nil {
			return store{}, err
		}
		return store{kept, kept.Shutdown}, nil
	case "redis":
		client := goredis.NewClient(&goredis.Options{
			Addr: settings["address"], Password: settings["password"],
		})
		kept, err := redis.New(app, redis.WithClient(client))
		return store{kept, client.Close}, err
	case "postgres":
		kept, err := postgres.New(app, table, settings["address"], postgres.WithMaxInterval(flush))
		if err != nil {
			return store{}, err
		}
		return store{kept, kept.Shutdown}, nil
	case "mysql":
		kept, err := mysql.New(app, table, settings["address"], mysql.WithMaxInterval(flush))
		if err != nil {
			return store{}, err
		}
		return store{kept, kept.Shutdown}, nil
	default:
		return store{}, fmt.Errorf("no store %q", kind)
	}
}

func sprint(words []interface{}) string {
	return strings.TrimSuffix(fmt.Sprintln(words...), "\n")
}
