"""Puts an ACE in front of an entry's DACL, or takes it out again: samba-deny.py SMB.CONF SAM.LDB ACCOUNT DN ACE add|remove"""

import sys

from samba.auth import system_session
from samba.ndr import ndr_unpack
from samba.param import LoadParm
from samba.samdb import SamDB
from samba.dcerpc import security
from samba.sd_utils import SDUtils


def main():
    config, database, account, dn, ace, action = sys.argv[1:]
    settings = LoadParm()
    settings.load(config)
    sam = SamDB(url=database, lp=settings, session_info=system_session(settings))
    [found] = sam.search(expression=f"sAMAccountName={account}", attrs=["objectSid"])
    sid = ndr_unpack(security.dom_sid, found["objectSid"][0])
    ace = ace.replace("ACCOUNT", str(sid))
    descriptors = SDUtils(sam)
    before = descriptors.get_sd_as_sddl(dn)
    if action == "add":
        after = before.replace("(", ace + "(", 1)
    else:
        after = before.replace(ace, "", 1)
    if before == after:
        sys.exit(f"{dn} does not have {ace}: {before}")
    descriptors.modify_sd_on_dn(dn, after)


main()
