#!/bin/sh
# Process 1 of a node: makes its view of the machine, says "ready", then waits and reaps what its sessions leave behind.
# usage: node.sh NAME plant|switch|host|router [ETC ETHTOOL PRIVATE_TMP]
set -eu
name=$1 kind=$2

put() { if [ -e "/proc/sys/$1" ]; then echo "$2" > "/proc/sys/$1"; fi; }

hostname "$name"
mount -t sysfs sysfs /sys
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd /run/lab/etc
mkdir -m 700 /run/root

if [ "$kind" = host ] || [ "$kind" = router ]; then
  # /etc is the node's own folder; what it does not have itself it links to the machine's, which is read-only here.
  mount --bind /etc /run/lab/etc
  mount -o remount,bind,ro /run/lab/etc
  : > /run/lab/ethtool
  mount --bind "$4" /run/lab/ethtool
  mount --bind "$3" /etc
  mount --bind /etc/jumbo-lab/ethtool "$4"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /dev/pts
  if [ "$5" = yes ]; then mount -t tmpfs -o mode=1777 tmpfs /tmp; fi
fi
# Nothing that runs in the lab can harm the machine's files.
mount -o remount,bind,ro /

for scope in all default; do
  put net/ipv4/conf/$scope/rp_filter 0
  put net/ipv4/conf/$scope/accept_redirects 0
  put net/ipv4/conf/$scope/send_redirects 0
  put net/ipv4/conf/$scope/ignore_routes_with_linkdown 1
  # Nobody else is on these links, so an address can be used at once; a switch keeps those of a port that is off.
  put net/ipv6/conf/$scope/accept_dad 0
  put net/ipv6/conf/$scope/accept_redirects 0
  put net/ipv6/conf/$scope/ignore_routes_with_linkdown 1
  if [ "$kind" = switch ]; then put net/ipv6/conf/$scope/keep_addr_on_down 1; fi
done
if [ "$kind" = plant ]; then  # cables say nothing of their own
  put net/ipv6/conf/all/disable_ipv6 1
  put net/ipv6/conf/default/disable_ipv6 1
fi
# A real switch answers every packet that is too big; the kernel's limits are meant for other machines.
put net/ipv4/icmp_ratelimit 0
put net/ipv4/icmp_msgs_per_sec 1000000
put net/ipv4/icmp_msgs_burst 100000
# A connection whose host is gone shall not keep a namespace.
put net/ipv4/tcp_orphan_retries 1
put net/ipv6/icmp/ratelimit 0
put net/ipv4/fib_multipath_hash_policy 1
put net/ipv6/fib_multipath_hash_policy 1
# Each node has a hash of its own (kernels from 6.11 on): with one for all, some legs would never be used.
put net/ipv4/fib_multipath_hash_seed "$(printf %s "$name" | cksum | cut -d ' ' -f 1)"
put net/bridge/bridge-nf-call-iptables 0
put net/bridge/bridge-nf-call-ip6tables 0
put net/bridge/bridge-nf-call-arptables 0
if [ "$kind" = switch ] || [ "$kind" = router ]; then
  put net/ipv4/ip_forward 1
  put net/ipv6/conf/all/forwarding 1
  put net/ipv6/conf/default/forwarding 1
fi
ip link set lo up

echo ready
exec </dev/null >/dev/null 2>&1
while :; do
  sleep 86400 &
  wait $!
done
