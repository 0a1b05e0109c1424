#!/usr/bin/env bash
# A real S3 server for tests: one-node Ceph (monitor, one OSD, RADOS Gateway) on 127.0.0.1, from Debian's own packages.
#
#   radosgw.sh start            start it (installing it first where needed) and print how to reach it
#   radosgw.sh stop             stop it and throw its objects away
#   radosgw.sh status           what runs; exit code 0 when all of it does
#   radosgw.sh env              print how to reach it
#   radosgw.sh install          only install; later starts take a few seconds
#   radosgw.sh installed        exit code 0 when `start` would not have to install anything
#   radosgw.sh kill|freeze|thaw rgw|osd|mon       SIGKILL, SIGSTOP, SIGCONT: real faults. After `kill rgw`, `start`
#                                                 brings the gateway back and the objects are still there
#
#   eval "$(scripts/radosgw.sh start | sed 's/^/export /')"
#
# stdout is only KEY=value lines: S3_ENDPOINT AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION S3_BUCKET RGW_VERSION.
# Everything else goes to stderr. A second start changes nothing and prints the same lines.
#
# Needs root on Debian 12 and Node on the PATH. Nothing listens outside loopback. The Cephs of newer Debian releases are
# unpacked into a folder and run from there; the packages of this machine stay as they are.
#
#   RGW_SUITE     sid (Ceph 20), trixie (18), system (this machine's, 16 on Debian 12), or auto: the first of these that
#                 works (default). Only Ceph 20 takes If-Match tags in their quotes, as S3 does.
#   RGW_ROOTS     where unpacked releases are kept              (default /var/tmp/radosgw-roots)
#   RGW_DIR       state of this instance; its objects are thrown away by every fresh start  (default /tmp/effect-wal-rgw)
#   RGW_PORT      S3 port                                       (default 7480)
#   MON_PORT      the monitor's port (default RGW_PORT + 1); keep both below 32768, where clients get their ports from.
#                 Two instances at once need two RGW_DIR and two RGW_PORT.
#   RGW_STORE     memstore (objects in memory) or bluestore     (default memstore)
#   RGW_STORE_GB  size of the store in GiB                      (default 6)
#   RGW_ACCESS_KEY, RGW_SECRET_KEY                              (default: fixed values for tests)
#   S3_BUCKET     bucket that start makes                       (default wal-test; empty: none)
set -euo pipefail
export LC_ALL=C

action=${1:-start}
suite=${RGW_SUITE:-auto}
roots=${RGW_ROOTS:-/var/tmp/radosgw-roots}
dir=${RGW_DIR:-/tmp/effect-wal-rgw}
port=${RGW_PORT:-7480}
mon_port=${MON_PORT:-$((port + 1))}
store=${RGW_STORE:-memstore}
store_gb=${RGW_STORE_GB:-6}
bucket=${S3_BUCKET-wal-test}
access_key=${RGW_ACCESS_KEY:-testaccesskey0000001}
secret_key=${RGW_SECRET_KEY:-testsecretkey00000000000000000000000001}

packages=(ceph-mon ceph-osd radosgw)
conf=$dir/ceph.conf
cluster_id=8f0c1a52-6d0e-4c55-9a57-2b1f3f6f7a01
osd_id=8f0c1a52-6d0e-4c55-9a57-2b1f3f6f7a02

case $suite in
  auto) suites=(sid trixie system) ;;
  sid | trixie | system) suites=("$suite") ;;
  *) echo "RGW_SUITE must be auto, sid, trixie or system" >&2; exit 2 ;;
esac

log() { echo "[radosgw] $*" >&2; }

# --- where the programs are ------------------------------------------------------------------------------------------

root=        # folder of the chosen release; empty: this machine's own programs
run=()       # what stands before a program of that release

# The bind mounts live in a mount namespace of that one program and are gone when it ends. Every step execs, so that the
# pid we record is the program's.
choose() {
  root='' run=()
  [ "$1" = system ] && return 0
  root=$roots/$1
  run=(unshare -m --propagation private sh -ec '
    root=$1 dir=$2; shift 2
    mkdir -p "$root/proc" "$root/dev" "$root$dir"
    mount --bind /proc "$root/proc"; mount --bind /dev "$root/dev"; mount --bind "$dir" "$root$dir"
    exec chroot "$root" "$@"' sh "$root" "$dir")
}

is_installed() {
  [ "$(id -u)" = 0 ] || return 1
  if [ "$1" = system ]; then command -v radosgw ceph-mon ceph-osd >/dev/null; else [ -e "$roots/$1/.done" ]; fi
}

any_installed() {
  local name
  for name in "${suites[@]}"; do is_installed "$name" && return 0; done
  return 1
}

# --- installing ------------------------------------------------------------------------------------------------------

install_system() {
  is_installed system && return 0
  log "installing ${packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2 2>/dev/null && return 0
  apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
}

# The Debian mirror that this machine uses anyway.
mirror() {
  local found
  found=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
  [ -n "$found" ] || found=$(awk '$1 == "deb" && / main/ {for (i = 2; i <= NF; i++) if ($i ~ /^http/) {print $i; exit}}' \
    /etc/apt/sources.list 2>/dev/null || true)
  echo "$found"
}

# Called where `set -e` does not reach, so each step says what happens when it fails.
install_release() {
  is_installed "$1" && return 0
  local name=$1 work=$roots/apt-$1 from deb options
  from=$(mirror)
  [ -n "$from" ] || { log "no Debian mirror in this machine's apt configuration"; return 1; }
  log "fetching ${packages[*]} of Debian $name into $root"
  rm -rf -- "$root" "$work"
  mkdir -p "$root" "$work"/lists/partial "$work"/cache/archives/partial "$work"/etc || return 1
  : >"$work/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $name main" >"$work/etc/sources.list"
  options=(-qq -o Dir::Etc::sourcelist="$work/etc/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$work"
    -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache"
    -o APT::Install-Recommends=0 -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3
    -o APT::Update::Error-Mode=any)
  apt-get "${options[@]}" update >&2 || return 1
  apt-get "${options[@]}" -y --download-only install base-files "${packages[@]}" >&2 || return 1
  # base-files first: it makes /bin and /lib links, which the others must find.
  for deb in "$work"/cache/archives/base-files_*.deb "$work"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --no-same-owner -f - || return 1
  done
  printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\n' >"$root/etc/group"
  printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
  "${run[@]}" radosgw --version >&2 || return 1
  rm -rf -- "$work"
  touch "$root/.done"
}

# Installs the first of `suites` that works and leaves it chosen.
install_any() {
  [ "$(id -u)" = 0 ] || { log "only root can install and run it"; exit 1; }
  mkdir -p "$dir" "$roots"
  exec 8>"$roots/lock"
  flock 8
  local name
  for name in "${suites[@]}"; do
    choose "$name"
    if [ "$name" = system ]; then
      install_system && { exec 8>&-; return 0; }
    else
      install_release "$name" && { exec 8>&-; return 0; }
      rm -rf -- "$root"
    fi
    log "Debian's $name release could not be used"
  done
  log "no S3 server could be installed"
  exit 1
}

# --- processes -------------------------------------------------------------------------------------------------------

# The recorded process of rgw, osd or mon still runs, and is ours: a pid alone can be somebody else's by now.
alive() {
  local file=$dir/$1.pid pid
  [ -s "$file" ] || return 1
  pid=$(cat "$file")
  [ -r "/proc/$pid/cmdline" ] || return 1
  tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "$conf"
}

listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

all_up() { alive mon && alive osd && alive rgw && listening "$port"; }

# The objects are thrown away, so nothing is asked to end well.
stop_all() {
  local name pid step
  for name in rgw osd mon; do
    if alive "$name"; then
      pid=$(cat "$dir/$name.pid")
      kill -KILL "$pid" 2>/dev/null || true
      for step in $(seq 250); do [ -d "/proc/$pid" ] || break; sleep 0.02; done
    fi
    rm -f "$dir/$name.pid"
  done
}

die() {
  log "$1"
  tail -n 4 "$dir"/log/*.out >&2 2>/dev/null || true
  stop_all 2>/dev/null
  exit 1
}

# daemon NAME PROGRAM...: start it in a session of its own and record its pid.
daemon() {
  local name=$1
  shift
  setsid ${run[@]+"${run[@]}"} "$@" </dev/null >"$dir/log/$name.out" 2>&1 9>&- &
  echo $! >"$dir/$name.pid"
  disown
}

# ceph_run SECONDS PROGRAM...: run a tool of the chosen release, not longer than that.
ceph_run() {
  local seconds=$1
  shift
  timeout "$seconds" ${run[@]+"${run[@]}"} "$@"
}

# wait_for NAME TENTHS CONDITION...: until the condition holds; dies with the daemon.
wait_for() {
  local name=$1 tenths=$2 step
  shift 2
  for step in $(seq "$((tenths * 2))"); do
    "$@" && return 0
    [ -d "/proc/$(cat "$dir/$name.pid")" ] || die "$name ended"
    sleep 0.05
  done
  die "$name did not come up"
}

print_env() {
  printf '%s\n' "S3_ENDPOINT=http://127.0.0.1:$port" "AWS_ACCESS_KEY_ID=$access_key" "AWS_SECRET_ACCESS_KEY=$secret_key" \
    "AWS_REGION=us-east-1" "S3_BUCKET=$bucket" "RGW_VERSION=$(cat "$dir/version" 2>/dev/null || true)"
}

# --- the cluster -----------------------------------------------------------------------------------------------------

write_conf() {
  cat <<CONF
[global]
fsid = $cluster_id
mon host = [v2:127.0.0.1:$mon_port/0]
mon initial members = a
public network = 127.0.0.0/8
cluster network = 127.0.0.0/8
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv4 = true
ms bind ipv6 = false
ms bind msgr1 = false
ms bind msgr2 = true
ms bind port min = 6800
ms bind port max = 7300
ms mon client mode = crc
ms crc data = false
auth cluster required = none
auth service required = none
auth client required = none
keyring = $dir/keyring
run dir = $dir/run
crash dir = $dir/run
pid file = $dir/run/\$name.pid
admin socket = $dir/run/\$name.\$pid.asok
log file = $dir/log/\$name.log
log to stderr = false
err to stderr = true
mon cluster log to file = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 1000
mon data avail warn = 1
mon data avail crit = 1
CONF
  local subsystem
  for subsystem in none lockdep context crush buffer timer filer objecter rados objectcacher client osd optracker objclass \
    filestore journal ms mon monc paxos tp auth crypto finisher heartbeatmap perfcounter rgw asok throttle refs compressor \
    bluestore bluefs bdev rocksdb mgrc; do
    echo "debug $subsystem = 0/0"
  done
  cat <<CONF
[mon]
mon data = $dir/mon
paxos propose interval = 0.02
paxos min wait = 0.01
[osd]
osd data = $dir/osd
osd objectstore = $store
memstore device bytes = $((store_gb * 1024 * 1024 * 1024))
bluestore block size = $((store_gb * 1024 * 1024 * 1024))
osd memory target = 1610612736
osd op queue = wpq
osd scrub load threshold = 0
osd class update on start = false
osd op num shards = 2
osd enable op tracker = false
[client]
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
rgw data = $dir/run
rgw enable ops log = false
rgw enable usage log = false
rgw enable lc threads = false
rgw enable quota threads = false
rgw run sync thread = false
rgw dynamic resharding = false
rgw override bucket index max shards = 1
rgw thread pool size = 64
rgw gc obj min wait = 30
rgw gc processor period = 30
CONF
}

start_monitor() {
  local tool=(-c "$conf")
  : >"$dir/keyring"
  ceph_run 30 monmaptool --create --fsid "$cluster_id" --addv a "[v2:127.0.0.1:$mon_port]" --clobber "$dir/monmap" >/dev/null ||
    die "the monitor's map was not made"
  ceph_run 30 ceph-mon "${tool[@]}" -i a --mkfs --monmap "$dir/monmap" >&2 || die "the monitor's store was not made"
  daemon mon ceph-mon "${tool[@]}" -i a -f
  wait_for mon 100 listening "$mon_port"
}

osd_is_up() { ceph_run 20 ceph -c "$conf" osd stat 2>/dev/null | grep -q '1 up'; }

start_osd() {
  local tool=(-c "$conf")
  ceph_run 30 ceph "${tool[@]}" osd new "$osd_id" 0 >/dev/null 2>"$dir/log/cli.out" || die "the OSD was not registered"
  ceph_run 60 ceph-osd "${tool[@]}" -i 0 --mkfs --osd-uuid "$osd_id" >"$dir/log/mkfs.out" 2>&1 || die "the OSD's store was not made"
  daemon osd ceph-osd "${tool[@]}" -i 0 -f
  ceph_run 30 ceph "${tool[@]}" osd crush add 0 1.0 host=local root=default >/dev/null 2>"$dir/log/cli.out" ||
    die "the OSD was not placed"
  wait_for osd 100 osd_is_up
}

start_gateway() {
  daemon rgw radosgw -c "$conf" -n client.admin -f
  wait_for rgw 300 listening "$port"
}

# Signature version 2 takes one HMAC, so that no SDK is needed to make a bucket.
make_bucket() {
  node - "$port" "$bucket" "$access_key" "$secret_key" <<'JS'
const { createHmac } = require("node:crypto")
const { request } = require("node:http")
const [port, bucket, accessKey, secretKey] = process.argv.slice(2)
const date = new Date().toUTCString()
const signature = createHmac("sha1", secretKey).update(`PUT\n\n\n${date}\n/${bucket}`).digest("base64")
const headers = { Date: date, Authorization: `AWS ${accessKey}:${signature}`, "Content-Length": "0" }
request({ host: "127.0.0.1", port, method: "PUT", path: `/${bucket}`, headers, timeout: 30000 }, (response) => {
  response.pipe(process.stdout)
  response.on("end", () => process.exit(response.statusCode === 200 ? 0 : 1))
}).on("error", (error) => { console.error(error); process.exit(1) }).end()
JS
}

start_cluster() {
  stop_all
  rm -f "$dir/ready"
  if listening "$port" || listening "$mon_port"; then log "port $port or $mon_port is taken by another program"; exit 1; fi
  rm -rf -- "$dir/mon" "$dir/osd" "$dir/run" "$dir/log"
  mkdir -p "$dir/mon" "$dir/osd" "$dir/run" "$dir/log"
  write_conf >"$conf"
  start_monitor
  start_osd
  ceph_run 60 radosgw-admin -c "$conf" user create --uid=test --display-name=test --access-key="$access_key" \
    --secret-key="$secret_key" --max-buckets=0 >"$dir/log/user.out" 2>&1 || die "the user was not made"
  start_gateway
  if [ -n "$bucket" ]; then make_bucket >"$dir/log/bucket.out" 2>&1 || die "bucket $bucket was not made"; fi
  ceph_run 30 radosgw --version 2>/dev/null | awk '{print $3}' >"$dir/version"
  echo "${root:+${root##*/}}" | sed 's/^$/system/' >"$dir/ready"
}

start() {
  mkdir -p "$dir"
  exec 9>"$dir/lock"
  flock 9 # two starts at once must not trample each other; the daemons do not inherit the lock
  if all_up; then
    log "runs already"
  elif alive mon && alive osd && [ -s "$dir/ready" ]; then
    choose "$(cat "$dir/ready")"
    start_gateway
    log "the gateway is back"
  else
    install_any
    start_cluster
    log "ready: Ceph $(cat "$dir/version")"
  fi
  print_env
}

status() {
  local name pid
  for name in mon osd rgw; do
    if alive "$name"; then
      pid=$(cat "$dir/$name.pid")
      echo "$name pid $pid, $(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$pid/status") MiB"
    else
      echo "$name down"
    fi
  done
  all_up
}

signal() {
  local name=${2:?which of rgw, osd, mon}
  alive "$name" || { log "$name is not running"; exit 1; }
  case $1 in kill) kill -KILL "$(cat "$dir/$name.pid")" ;; freeze) kill -STOP "$(cat "$dir/$name.pid")" ;; thaw) kill -CONT "$(cat "$dir/$name.pid")" ;; esac
}

case $action in
  start) start ;;
  stop)
    stop_all
    rm -rf -- "$dir/mon" "$dir/osd" "$dir/run" "$dir/ready"
    log stopped
    ;;
  status) status ;;
  env) print_env ;;
  install) install_any ;;
  installed) any_installed ;;
  kill | freeze | thaw) signal "$@" ;;
  *) echo "usage: $0 start|stop|status|env|install|installed|kill|freeze|thaw [rgw|osd|mon]" >&2; exit 2 ;;
esac
