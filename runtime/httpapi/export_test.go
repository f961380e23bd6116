package httpapi

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
