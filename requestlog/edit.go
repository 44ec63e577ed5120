package requestlog

import (
	"fmt"
	"slices"
	"strings"

	"scripter/httpform"
)

// SetVariable sets a CGI variable before the request is run again.
func (r *Request) SetVariable(name, value string) {
	r.Variables[name] = value
	r.complete(name)
}

// SetBody replaces the body before the request is run again.
func (r *Request) SetBody(text string) {
	r.Body, r.BodySize = text, int64(len(text))
	if _, ok := r.Variables["CONTENT_LENGTH"]; ok {
		r.Variables["CONTENT_LENGTH"] = fmt.Sprint(len(text))
	}
	r.complete(bodyItem)
}

// SetField replaces the values of a form field, in the query and in the body. If the
// field occurs more often than there are values, the last one is repeated. It returns
// an error if the request has no such field.
func (r *Request) SetField(name string, values ...string) error {
	found := false
	next := func() func() string {
		i := 0
		return func() string {
			found = true
			v := values[min(i, len(values)-1)]
			i++
			return v
		}
	}
	for _, v := range []string{"QUERY_STRING", "REDIRECT_QUERY_STRING"} {
		if query, ok := r.Variables[v]; ok {
			r.Variables[v] = setField(query, name, next())
		}
	}
	for _, v := range []string{"REQUEST_URI", "REDIRECT_REQUEST_URI", "REDIRECT_URI"} {
		if path, query, ok := strings.Cut(r.Variables[v], "?"); ok {
			r.Variables[v] = path + "?" + setField(query, name, next())
		}
	}
	switch media, boundary, _ := httpform.Media(r.Variables["CONTENT_TYPE"]); media {
	case httpform.URLEncoded:
		r.Body = setField(r.Body, name, next())
	case httpform.Multipart:
		r.Body = setPart(r.Body, boundary, name, next())
	}
	if !found {
		return fmt.Errorf("the request has no form field %q", name)
	}
	r.complete(fieldItem(name))
	return nil
}

// setField replaces the values of a field in URL-encoded text.
func setField(text, name string, value func() string) string {
	return httpform.ReplaceValues(text, func(field, encoded string) string {
		if field == name {
			return string(httpform.Escape(nil, value()))
		}
		return encoded
	})
}

// setPart replaces the data of the parts called name in a multipart form. It returns a
// body that is not a form, because it was cut or masked, unchanged.
func setPart(body, boundary, name string, value func() string) string {
	parts, err := httpform.ParseMultipart(body, boundary, maxParts)
	if err != nil {
		return body
	}
	found := false
	for i := range parts {
		if parts[i].Name == name {
			parts[i].Data, found = value(), true
		}
	}
	if !found {
		return body
	}
	return httpform.FormatMultipart(parts, boundary)
}

// complete removes an item from Masked and Cut.
func (r *Request) complete(item string) {
	is := func(s string) bool { return s == item }
	r.Masked = slices.DeleteFunc(r.Masked, is)
	r.Cut = slices.DeleteFunc(r.Cut, is)
}

// Incomplete returns an error if the request cannot be run again unchanged, because its
// body was too long to be recorded or was masked as a whole. All other masked values
// are replaced by "(masked)".
func (r *Request) Incomplete() error {
	switch {
	case slices.Contains(r.Cut, bodyItem):
		return fmt.Errorf("request %d had a body of %d bytes, of which the first %d were recorded",
			r.Number, r.BodySize, len(r.Body))
	case slices.Contains(r.Masked, bodyItem):
		return fmt.Errorf("the body of request %d contains the name of a secret and was not recorded", r.Number)
	}
	return nil
}
