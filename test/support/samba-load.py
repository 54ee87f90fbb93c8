"""Loads LDIF into the database of a stopped Samba server: samba-load.py SMB.CONF SAM.LDB LDIF READER PASSWORD"""

import sys

import ldb
from samba.auth import system_session
from samba.param import LoadParm
from samba.samdb import SamDB

# A single transaction becomes slower with every entry.
RECORDS_PER_TRANSACTION = 200


def main():
    config, database, path, reader, password = sys.argv[1:]
    settings = LoadParm()
    settings.load(config)
    sam = SamDB(
        url=database,
        lp=settings,
        session_info=system_session(settings),
        flags=ldb.FLG_NOSYNC,
    )
    sam.newuser(reader, password)
    with open(path, encoding="utf-8") as file:
        records = list(sam.parse_ldif(file.read()))
    for start in range(0, len(records), RECORDS_PER_TRANSACTION):
        sam.transaction_start()
        for change, message in records[start : start + RECORDS_PER_TRANSACTION]:
            try:
                if change == ldb.CHANGETYPE_MODIFY:
                    sam.modify(message)
                else:
                    sam.add(message)
            except ldb.LdbError as error:
                sys.exit(f"{message.dn}: {error}")
        sam.transaction_commit()
    print(len(records))


main()
