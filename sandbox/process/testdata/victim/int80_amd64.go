package main

import "fmt"

func getpid32() int64

func int80() outcome {
	pid := getpid32()
	return outcome{pid > 0, fmt.Sprint("answer ", pid)}
}
