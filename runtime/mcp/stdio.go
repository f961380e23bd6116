package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines is a transport of one message a line. The SDK's own ends the session at
// the first message that it cannot read; this one answers it and goes on.
type lines struct {
	in         io.Reader
	out        io.Writer
	maxMessage int
	room       Room
}

// Connect starts to read. It is called once.
func (t *lines) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConn{
		out: t.out, read: make(chan line), closed: make(chan struct{}), maxMessage: t.maxMessage, open: newOpen(t.maxMessage), room: t.room,
	}
	// A reader of standard input cannot be interrupted everywhere. It ends with
	// the input, or with the process.
	go c.readLines(t.in, t.maxMessage)
	return c, nil
}

// line is one line of the input, or why there is none.
type line struct {
	text []byte
	long bool // it was longer than a message may be, and is dropped
	err  error
}

type lineConn struct {
	read   chan line
	once   sync.Once
	closed chan struct{}

	writing sync.Mutex // guards out
	out     io.Writer

	maxMessage int
	open       *open
	room       Room
}

// SessionID is empty: there is one session on these streams.
func (c *lineConn) SessionID() string { return "" }

// Close ends the connection.
func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *lineConn) readLines(in io.Reader, most int) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		l := readLine(r, most)
		select {
		case c.read <- l:
		case <-c.closed:
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads to the end of the line and keeps no more than most of it.
func readLine(r *bufio.Reader, most int) line {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		if !l.long && len(l.text)+len(part) > most+1 {
			l.long, l.text = true, nil
		}
		if !l.long {
			l.text = append(l.text, part...)
		}
		switch {
		case err == nil:
			return l
		case err == io.EOF && (l.long || len(bytes.TrimSpace(l.text)) > 0):
			return l // the next one says that it was the last
		case !errors.Is(err, bufio.ErrBufferFull):
			return line{err: err}
		}
	}
}

// Read gives the next message that is let through.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var l line
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case l = <-c.read:
		}
		if l.err != nil {
			return nil, l.err
		}
		if !l.long && len(bytes.TrimSpace(l.text)) == 0 {
			continue
		}
		m, refused := c.accept(l)
		if refused == nil {
			return m, nil
		}
		if err := c.write(refused.text()); err != nil {
			return nil, err
		}
	}
}

// accept decodes a line and notes down what it starts.
func (c *lineConn) accept(l line) (jsonrpc.Message, *refusal) {
	if l.long {
		return nil, &refusal{null, jsonrpc.CodeInvalidRequest, tooLong(c.maxMessage)}
	}
	m, refused := decode(l.text)
	if refused != nil {
		return nil, refused
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		if refused := c.open.start(r, l.text); refused != nil {
			return nil, refused
		}
		give, ok := c.room.Take(copies*int64(len(l.text)) + valuesAround(r.Method, l.text, r.Params))
		c.open.after(r.ID, give)
		if !ok {
			c.open.end(r.ID)
			id, _ := idOf(l.text)
			return nil, &refusal{id, codeBusy, busyNow}
		}
	}
	return m, nil
}

// Write sends a message. It can be called from several goroutines.
func (c *lineConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		c.open.end(r.ID)
		r.Error = coded(r.Error)
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return c.write(text)
}

func (c *lineConn) write(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(text, '\n'))
	return err
}

// coded gives an error of the SDK's that has no code one that JSON-RPC has.
func coded(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}

func tooLong(most int) string { return fmt.Sprintf("a message may have %d bytes", most) }
