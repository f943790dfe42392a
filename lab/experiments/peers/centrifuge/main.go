// A server on centrifuge, the library of Centrifugo: everybody may subscribe to every channel and publish in it. Settings
// are the library's defaults, which Centrifugo has, too. With a tick, its argument, each connection's messages are
// collected for that long and written as one.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/centrifugal/centrifuge"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: centrifuge TICK_MS")
	}
	tick, err := strconv.ParseUint(os.Args[1], 10, 16)
	if err != nil {
		return fmt.Errorf("the tick is a number of milliseconds: %w", err)
	}
	node, err := newNode(time.Duration(tick) * time.Millisecond)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	fmt.Printf("listening %d centrifuge %s, %s\n", port, version(), runtime.Version())
	http.Handle("/connection/websocket", centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{}))
	return http.Serve(listener, nil)
}

// newNode starts a node whose clients are anonymous, as with Centrifugo's option client.insecure.
func newNode(tick time.Duration) (*centrifuge.Node, error) {
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		return nil, err
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		reply := centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{}}
		if tick > 0 {
			reply.WriteDelay = tick
			// The default of 16 messages in a write would limit how many messages a second a client can get.
			reply.MaxMessagesInFrame = -1
		}
		return reply, nil
	})
	node.OnConnect(func(client *centrifuge.Client) {
		client.OnSubscribe(func(_ centrifuge.SubscribeEvent, reply centrifuge.SubscribeCallback) {
			reply(centrifuge.SubscribeReply{}, nil)
		})
		client.OnPublish(func(event centrifuge.PublishEvent, reply centrifuge.PublishCallback) {
			// Centrifugo tells subscribers who published, too.
			info := centrifuge.WithClientInfo(event.ClientInfo)
			result, err := node.Publish(event.Channel, event.Data, info)
			reply(centrifuge.PublishReply{Result: &result}, err)
		})
	})
	return node, node.Run()
}

// version is that of the library which this program was built with.
func version() string {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == "github.com/centrifugal/centrifuge" {
			return module.Version
		}
	}
	return "of an unknown version"
}
