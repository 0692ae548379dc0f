# shellcheck shell=bash disable=SC2034,SC2154

# ---- Hosts that the campaign lists (hosts=(...)) are reached by ssh, without prompts and with short time limits

on_host() { timeout --kill-after=2 10 ssh -o BatchMode=yes -o ConnectTimeout=5 "$1" bash -s 2>&1; } # commands on stdin
# Examines another host: prints lines of evidence, and "lacks KIND: why".
look_at() { # HOST before|after
    on_host "$1" <<END
$(declare -p ranks_per_node threads sockets numa_domains l3_caches binding device interface gpus_per_node gpu_binding "${exported[@]}" 2>/dev/null)
$(declare -f "${gpu_functions[@]}" record_node read_ticks record_errors total record_system record_facts fact record_driver "${placing[@]}")
record() { printf '%s\n' "\$1"; }
read -r HOSTNAME </proc/sys/kernel/hostname
[ "\$HOSTNAME" != $(printf %q "$HOSTNAME") ] || exit 0 # this very host by another name
[ -r $(printf %q "$rank") ] || exit 66
if [ $2 = before ]; then
    read_topology
    choose_cpus
    record_system
    lacks | sed 's/^/lacks /'
    command -v $(printf %q "$program") >/dev/null || echo lacks program: $(printf %q "${program##*/}") "is not on \$HOSTNAME"
fi
record_node $2
exit 0
END
}
look_at_hosts() { # before|after
    local host said status
    for host in "${hosts[@]}"; do
        [ "${host%%.*}" != "${HOSTNAME%%.*}" ] || continue
        said=$(look_at "$host" "$1")
        status=$?
        printf '%s\n' "$said" | grep '^node ' >&3
        if [ "$1" = after ]; then
            [ "$status" -eq 0 ] || silent=$host
            continue
        fi
        case $status in
            0) ;;
            66) fail 69 "$host does not see $common: the results' folder must lie on a file system that all hosts share" ;;
            *) fail 69 "$host does not answer ssh from $HOSTNAME, or asks for input: 'ssh -o BatchMode=yes $host true' must work (${said##*$'\n'})" ;;
        esac
        [ -n "$missing" ] || missing=$(printf '%s\n' "$said" | sed -n 's/^lacks //p' | head -n 1)
    done
}
end_on_hosts() { # on all hosts at once; prints the processes that it killed
    local host
    for host in "${hosts[@]}"; do
        [ "${host%%.*}" = "${HOSTNAME%%.*}" ] ||
            on_host "$host" <<<"HOSTNAME=\$(uname -n); $(declare -f end_here); end_here $(printf %q "$common")" &
    done
    wait
}
