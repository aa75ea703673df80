// Runs Telegraf's kinesis_consumer input as published, many of them at once.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"text/template"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/agent"
	"github.com/influxdata/telegraf/config"
	"github.com/influxdata/telegraf/models"
	"github.com/influxdata/telegraf/plugins/inputs/kinesis_consumer"
	_ "github.com/influxdata/telegraf/plugins/parsers/value"
	"reshardctl.test/lines"
)

// What an operator writes, with intervals of 30 s, 10 s and a quarter of a second made fit for a
// test. The input tells its parser nothing of a record but its data.
var written = template.Must(template.New("telegraf.conf").Parse(`
[agent]
  omit_hostname = true
[[inputs.kinesis_consumer]]
  region = "us-east-1"
  access_key = "testing"
  secret_key = "testing"
  endpoint_url = "{{.kinesis}}"
  streamname = "{{.stream}}"
  shard_iterator_type = "{{.initial}}"
  poll_interval = "500ms"
  shard_update_interval = "3s"
  data_format = "value"
  data_type = "string"
  [inputs.kinesis_consumer.checkpoint_dynamodb]
    app_name = "{{.app}}"
    table_name = "{{.table}}"
    interval = "1s"
`))

func main() {
	lines.Serve(run)
}

func run(ctx context.Context, settings lines.Settings, say lines.Say) error {
	input, err := configured(settings, say)
	if err != nil {
		return err
	}
	metrics := make(chan telegraf.Metric)
	if err := input.Start(agent.NewAccumulator(input, metrics)); err != nil {
		return err
	}
	stopped := make(chan struct{})
	go func() {
		<-ctx.Done()
		input.Stop()
		close(stopped)
	}()
	for {
		select {
		case metric := <-metrics:
			deliver(metric, say)
		case <-stopped:
			return nil
		}
	}
}

var loading sync.Mutex

// configured makes the input of the configuration, with a logger of ours. The input finds DynamoDB
// through the environment alone (LoadDefaultConfig in run of its store.go); all runs of a process
// have the same one.
func configured(settings lines.Settings, say lines.Say) (*models.RunningInput, error) {
	loading.Lock()
	defer loading.Unlock()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": settings["dynamodb"], "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing",
	} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	if err := written.Execute(&text, map[string]string(settings)); err != nil {
		return nil, err
	}
	loaded := config.NewConfig()
	if err := loaded.LoadConfigData(text.Bytes(), "telegraf.conf"); err != nil {
		return nil, err
	}
	input := loaded.Inputs[0]
	plugin, ok := input.Input.(*kinesis_consumer.KinesisConsumer)
	if !ok {
		return nil, fmt.Errorf("an input of type %T", input.Input)
	}
	plugin.Log = logger{plugin.Log, say}
	return input, input.Init()
}

// deliver is an output to which every write succeeds. A payload is a letter, the number of its
// shard and its place there (s0-3), of which the partition key is made.
func deliver(metric telegraf.Metric, say lines.Say) {
	value, _ := metric.GetField("value")
	payload := fmt.Sprint(value)
	shard, _, _ := strings.Cut(payload, "-")
	say("RECORD", "key", "k"+shard[1:], "payload", payload)
	metric.Accept()
}

// logger reports what the input logs as an error or a warning.
type logger struct {
	telegraf.Logger
	say lines.Say
}

func (l logger) Errorf(format string, words ...interface{}) {
	l.say("LOG", "words", fmt.Sprintf(format, words...))
}

func (l logger) Warnf(format string, words ...interface{}) {
	l.say("LOG", "words", fmt.Sprintf(format, words...))
}
