// Package lines lets one process hold many runs of a consumer library, spoken to by lines of JSON.
//
// In: {"run": "7", "do": "start", "settings": {…}} and {"run": "7", "do": "stop"}; {"do": "panic"}
// ends the process as a panic of the library does. Out: the events of each run, {"run": "7",
// "event": "RECORD", …}. The process ends when its input does, so it never outlives the one that
// started it.
package lines

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"sync"
)

// Say reports an event of a run; the pairs are names and values.
type Say func(event string, pairs ...string)

// Settings of a run; what they mean is the library's program's affair.
type Settings map[string]string

type request struct {
	Run      string
	Do       string
	Settings Settings
}

var out sync.Mutex

// Serve starts what it is told to, each on a goroutine, until its input ends. An error of a run is
// reported as DIED, its end as STOPPED.
func Serve(run func(context.Context, Settings, Say) error) {
	stops := map[string]context.CancelFunc{}
	sayFor("")("READY")
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	for input.Scan() {
		var wanted request
		if err := json.Unmarshal(input.Bytes(), &wanted); err != nil {
			panic(err)
		}
		if wanted.Do == "stop" {
			stops[wanted.Run]()
			continue
		}
		if wanted.Do == "panic" {
			closed := make(chan struct{})
			close(closed)
			go func() { closed <- struct{}{} }()
			continue
		}
		ctx, stop := context.WithCancel(context.Background())
		stops[wanted.Run] = stop
		go func() {
			say := sayFor(wanted.Run)
			say("BEGUN")
			if err := run(ctx, wanted.Settings, say); err != nil {
				say("DIED", "error", err.Error())
				return
			}
			say("STOPPED")
		}()
	}
}

func sayFor(run string) Say {
	return func(event string, pairs ...string) {
		members := map[string]string{"run": run, "event": event}
		for i := 0; i+1 < len(pairs); i += 2 {
			members[pairs[i]] = pairs[i+1]
		}
		line, err := json.Marshal(members)
		if err != nil {
			panic(err)
		}
		out.Lock()
		defer out.Unlock()
		os.Stdout.Write(append(line, '\n'))
	}
}
