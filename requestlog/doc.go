// Package requestlog records requests in the root while Debugging is on: masked, listed,
// and ready to be run again.
//
// A [Mask] masks the secrets of a request, which [New] then records with [Request.Add].
// [ReadsOf] says what it has read.
// A [Recorder] records the response while it is sent, and [Request.AddOutcome] adds it.
// [All] and [Find] read what is recorded, [Name.Find] by the text that a person types;
// [Request.Fields] is for programs. [Request.SetField] and its like edit a recorded
// request before it is run again. Nothing here answers a request.
package requestlog
