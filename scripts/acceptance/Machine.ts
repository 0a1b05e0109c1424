/**
 * A process as if on another machine: with a host name of its own, and with an empty folder in the place of what only the
 * first machine has. Root and util-linux; both are gone with the process.
 */

const script = `set -e
echo "$1" > /proc/sys/kernel/hostname
mount -t tmpfs -o size=1m effect-wal "$2"
shift 2
exec "$@"`

/** What stands before the program and its arguments; the process id is the program's in the end. */
export const anotherMachine = (host: string, hiddenFolder: string): ReadonlyArray<string> => [
  "unshare",
  "--mount",
  "--uts",
  "--propagation",
  "private",
  "sh",
  "-c",
  script,
  "sh",
  host,
  hiddenFolder
]
