-- httpd.setBufferSize (text)
-- Not there any more: a response leaves in pieces of the setting chunkSize;
-- the web server's own configuration says how it buffers them.
error ("httpd.setBufferSize is not there any more: a response leaves in pieces of the setting chunkSize; the web server's own configuration says how it buffers them", 0)
