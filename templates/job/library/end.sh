# shellcheck shell=bash

# Ranks that outlive their launcher would disturb the next run: some ignore TERM, in sessions of
# their own. Their environment or their command line identifies them.
end_here() { # ATTEMPT: on this host; prints the processes that it killed
    local process
    {
        grep -lzsF "MPICAMPAIGN_EVIDENCE_FILE=$1/" /proc/[0-9]*/environ
        grep -lzxsF "$1/rank" /proc/[0-9]*/cmdline
    } | while IFS=/ read -r _ _ process _; do
        kill -KILL "$process" 2>/dev/null && echo "$process on $HOSTNAME"
    done
}
