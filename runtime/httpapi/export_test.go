package httpapi

import "github.com/mayfly-run/mayfly/internal/room"

// Find says whose a token is.
func (t *Tokens) Find(token string) (Caller, bool, error) { return t.find(token) }

// Routes are what there is: method, pattern, and "public" where no token is
// needed.
func Routes() [][3]string {
	var all [][3]string
	for _, r := range routes {
		public := ""
		if r.public {
			public = "public"
		}
		all = append(all, [3]string{r.method, r.pattern, public})
	}
	return all
}

// Held is how much of what all requests may have together is taken.
func (s *Server) Held() int64 { return s.work.Bytes() }

// Hold takes as much as a request of somebody else's would.
func (s *Server) Hold(n int64) (give func(), ok bool) {
	return s.work.Of(room.Caller{Principal: "somebody else"}).Take(n)
}

// Places are how many calls run and wait.
func (s *Server) Places() (running, waiting int) { return s.work.Places() }

// Refusals are how many are told later that the host is busy.
func (s *Server) Refusals() int64 { return s.refusals.waiting.Load() }

// LayOut lays JSON out, and LaidOut says how long that makes it.
var LayOut, LaidOut = layOut, laidOut
