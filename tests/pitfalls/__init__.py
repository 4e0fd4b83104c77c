"""What has gone wrong for people running SWF and its relatives, tried on flowpy; tests carry the row's id."""
