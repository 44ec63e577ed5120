-- httpd.setRealms (text)
-- Not there any more: a realm is there as long as it has users, see
-- httpd.addUser.
error ("httpd.setRealms is not there any more: a realm is there as long as it has users, see httpd.addUser", 0)
