package corpus

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Record types of the FastCGI 1.0 specification, section 8. This client is
// written from it on its own, so that it does not share a mistake with the
// package that it tests.
const (
	fcgiBegin  = 1
	fcgiEnd    = 3
	fcgiParams = 4
	fcgiStdin  = 5
	fcgiStdout = 6
	fcgiStderr = 7
)

// fcgiCall makes one request on a connection of its own.
func fcgiCall(socket string, vars map[string]string, body io.Reader, out io.Writer) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() { sent <- fcgiSend(conn, vars, body) }()
	if err := fcgiReceive(bufio.NewReader(conn), out); err != nil {
		conn.Close()
		return errors.Join(err, <-sent)
	}
	return nil
}

func fcgiSend(w io.Writer, vars map[string]string, body io.Reader) error {
	bw := bufio.NewWriter(w)
	fcgiRecord(bw, fcgiBegin, []byte{0, 1, 0, 0, 0, 0, 0, 0}) // responder, the connection is closed afterwards
	var params []byte
	for name, value := range vars {
		for _, n := range []int{len(name), len(value)} {
			if n < 128 {
				params = append(params, byte(n))
			} else {
				params = binary.BigEndian.AppendUint32(params, uint32(n)|1<<31)
			}
		}
		params = append(append(params, name...), value...)
	}
	for len(params) > 0 {
		n := min(len(params), 60000)
		fcgiRecord(bw, fcgiParams, params[:n])
		params = params[n:]
	}
	fcgiRecord(bw, fcgiParams, nil)
	data := make([]byte, 32000)
	for {
		n, err := body.Read(data)
		if n > 0 {
			fcgiRecord(bw, fcgiStdin, data[:n])
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	fcgiRecord(bw, fcgiStdin, nil)
	return bw.Flush()
}

func fcgiRecord(w *bufio.Writer, kind byte, content []byte) {
	w.Write([]byte{1, kind, 0, 1, byte(len(content) >> 8), byte(len(content)), 0, 0})
	w.Write(content)
}

func fcgiReceive(r io.Reader, out io.Writer) error {
	var log []byte
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return fmt.Errorf("read a record: %w: %s", err, log)
		}
		content := make([]byte, int(binary.BigEndian.Uint16(head[4:6])))
		if _, err := io.ReadFull(r, content); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, r, int64(head[6])); err != nil {
			return err
		}
		switch head[1] {
		case fcgiStdout:
			if _, err := out.Write(content); err != nil {
				return err
			}
		case fcgiStderr:
			log = append(log, content...)
		case fcgiEnd:
			if status := content[4]; status != 0 {
				return fmt.Errorf("protocol status %d: %s", status, log)
			}
			return nil
		default:
			return fmt.Errorf("record of type %d", head[1])
		}
	}
}
