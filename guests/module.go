package guests

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"
)

// readModule unpacks a guest's module and checks that it is the one described.
func readModule(files fs.FS, info Info) ([]byte, error) {
	packed, err := fs.ReadFile(files, "artefacts/"+info.Name+".wasm.zst")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("guests: %s: %w", info.Name, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("guests: %s: %w", info.Name, err)
	}
	damaged := func(what error) error {
		return fmt.Errorf("guests: %s.wasm.zst is damaged: %w; run `make guests` again", info.Name, what)
	}
	decoder, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxModule))
	if err != nil {
		return nil, damaged(err)
	}
	defer decoder.Close()
	module := make([]byte, info.Module.Bytes)
	if _, err := io.ReadFull(decoder, module); err != nil {
		return nil, damaged(err)
	}
	if _, err := io.CopyN(io.Discard, decoder, 1); err != io.EOF {
		return nil, damaged(errors.New("it is longer than described"))
	}
	if sum := sha256.Sum256(module); hex.EncodeToString(sum[:]) != info.Module.SHA256 {
		return nil, damaged(errors.New("its digest is not the one described"))
	}
	return module, nil
}
