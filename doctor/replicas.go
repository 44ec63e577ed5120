package doctor

// checkReplicas says what is lost with the server of a root in PostgreSQL.
func (d *doctor) checkReplicas() {
	const check = "standby"
	r := d.replicas
	// remote_write, on and remote_apply wait for synchronous standbys. Commits use on where the server is set to off.
	waits := r != nil && r.Commits != "local"
	switch {
	case r == nil:
	case r.IsStandby:
		d.warn(check, "the server of the root is a standby: the root can be read, and not be written")
	case r.Synchronous > 0 && waits && r.Commits == "remote_write":
		d.warn(check, "a synchronous standby gets each change before it is answered, but has it not on its disk yet "+
			"(synchronous_commit is remote_write): if both hosts lose their power, the last changes are lost")
	case r.Synchronous > 0 && waits:
		d.ok(check, "a synchronous standby has each change on its disk before it is answered: "+
			"nothing is lost with the server")
	case r.Synchronous > 0:
		d.warn(check, "nobody waits for the synchronous standby (synchronous_commit is local): "+
			"the last changes before the loss of the server are lost, as a rule those of less than a second")
	case r.Unknown > 0:
		d.add(Note, check, "the server has a standby; this user may not see whether it is synchronous",
			"in psql, as a superuser: GRANT pg_read_all_stats TO the user of the root")
	case r.Wanted:
		d.warn(check, "the server waits for a synchronous standby, and none is connected: changes wait for it, too")
	case r.Others > 0:
		d.warn(check, "the standby is asynchronous: the last changes before the loss of the server are lost, "+
			"as a rule those of less than a second")
	default:
		d.warn(check, "the server has no standby: with its disk, all changes since the last backup are lost")
	}
}
