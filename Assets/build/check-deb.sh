#!/bin/sh
# Checks a Debian package: check-deb.sh PACKAGE.deb [FOLDER]
#
# Lintian must report no error or warning. Then the package is installed with its dependencies on a bare Debian of this release,
# without Swift, below FOLDER (default: TMPDIR, or /tmp), and used: by root and by another user, with and without TERM and LANG, with
# completion in three shells, the browser in a terminal, the manual page. Finally it is removed, which must leave no files. Needs root,
# lintian, debootstrap, and some 500 MB during the check.
set -eu

say() { printf 'vellum: %s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

# MARK: Within the bare system

# Runs a command as an unprivileged user in the home folder, with only the environment that is passed to env before it.
as_user() {
    setpriv --reuid=tester --regid=tester --clear-groups \
        env -i -C /home/tester HOME=/home/tester PATH=/usr/bin:/bin "$@"
}

# has FILE TEXT: whether the file has the text.
has() {
    grep -qF -- "$2" "$1" && return
    say "\"$2\" is missing in:"
    cat "$1" >&2
    exit 1
}

# Each terminal has its own server, since one that ends can't start another.
terminals=0
screen() { tmux -L check$terminals capture-pane -p; }

# Waits until the terminal shows the pattern.
shows() {
    tries=0
    until screen | grep -q -- "$1"; do
        tries=$((tries + 1))
        [ $tries -lt 150 ] || {
            say "the terminal doesn't show \"$1\" but:"
            screen >&2
            exit 1
        }
        sleep 0.1
    done
}

# begin COMMAND: runs the command in a terminal.
begin() {
    terminals=$((terminals + 1))
    tmux -L check$terminals -f /dev/null new-session -d -x 100 -y 30 "$@"
}
finish() { tmux -L check$terminals kill-server 2>/dev/null || true; }
keys() { tmux -L check$terminals send-keys "$@"; }

# completes SHELL COMMAND: the shell's completion of a word on Tab.
completes() {
    begin "$2"
    keys -l "PS1='ready> '"
    keys Enter
    [ "$1" = fish ] || shows '^ready>'
    keys -l 'vellum ke'
    sleep 1
    keys Tab
    shows 'vellum keys'
    keys -l 'Cit'
    keys Tab
    shows 'vellum keys City'
    keys -l -- '--rev'
    keys Tab
    shows 'vellum keys City --reverse'
    keys C-u
    keys -l 'vellum get Country country:Q'
    keys Tab
    shows 'vellum get Country country:QA'
    finish
    echo "completion in $1 works"
}

inside() {
    export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
    apt-get install -q -y --no-install-recommends /tmp/vellum.deb >/tmp/apt.log 2>&1 || fail "$(cat /tmp/apt.log)"
    sed -n 's/^Setting up \(.*\) \.\.\..*/installed \1/p' /tmp/apt.log
    ! command -v swift >/dev/null || fail "Swift is here"
    vellum --version
    apt-get install -q -y --no-install-recommends man-db bash-completion zsh fish tmux >/tmp/apt.log 2>&1 \
        || fail "$(cat /tmp/apt.log)"
    useradd --create-home tester
    unset LC_ALL

    for setting in LANG=C.UTF-8 LC_ALL=POSIX; do
        for terminal in TERM=xterm-256color NONE=; do
            for user in "env -i HOME=/root PATH=/usr/bin:/bin" as_user; do
                of="of $user with $setting and $terminal"
                $user $setting $terminal vellum --version >/tmp/out 2>&1 || fail "version $of: $(cat /tmp/out)"
                $user $setting $terminal vellum doctor >/tmp/out 2>&1 || fail "doctor $of: $(cat /tmp/out)"
                $user $setting $terminal vellum query --help >/tmp/out 2>&1 || fail "help $of: $(cat /tmp/out)"
            done
        done
    done
    # Without LANG, and without TERM.
    began=$(date +%s%N)
    as_user vellum demo --no-browse --seconds 5 >/tmp/out 2>/tmp/err || fail "demo: $(cat /tmp/err)"
    echo "demo took $((($(date +%s%N) - began) / 1000000)) ms and recorded $(sed -n 's/^records.//p' /tmp/out)"
    has /tmp/err "recorded 6,204 entries"
    as_user vellum demo --no-browse --seconds 1 --keep --store /home/tester/store >/tmp/out 2>/tmp/err || fail "$(cat /tmp/err)"

    # In the user's store, on a terminal.
    store="VELLUM_STORE=/home/tester/store"
    as_user $store vellum query City 'count by countrycode | limit 3' >/tmp/out || fail "a query finds nothing"
    for setting in LANG=C.UTF-8 LC_ALL=POSIX; do
        begin setpriv --reuid=tester --regid=tester --clear-groups \
            env -i -C /home/tester HOME=/home/tester TERM=screen PATH=/usr/bin:/bin $setting $store vellum
        shows City
        keys Enter
        shows entries
        keys q
        finish
        echo "the browser starts with $setting"
    done
    as_user $store LANG=C.UTF-8 vellum browse </dev/null >/tmp/out 2>&1 && fail "the browser starts without a terminal"
    as_user $store TERM=dumb vellum browse </dev/null >/tmp/out 2>&1 && fail "the browser starts on a dumb terminal"

    VELLUM_STORE=/home/tester/store VELLUM_TRUST_OWNER=1 TERM=screen
    export VELLUM_STORE VELLUM_TRUST_OWNER TERM
    printf 'PS1="ready> "\n. /usr/share/bash-completion/bash_completion\n' >/root/.bashrc
    printf 'autoload -U compinit\ncompinit\n' >/root/.zshrc
    LANG=C.UTF-8 completes bash "bash -i"
    LANG=C.UTF-8 completes zsh "zsh -i"
    LANG=C.UTF-8 completes fish "fish -i"
    unset VELLUM_STORE VELLUM_TRUST_OWNER

    for setting in LANG=C.UTF-8 LC_ALL=POSIX; do
        env $setting MANWIDTH=80 MANPAGER=cat man --warnings vellum >/tmp/out 2>/tmp/err || fail "man: $(cat /tmp/err)"
        [ ! -s /tmp/err ] || fail "man warns with $setting: $(cat /tmp/err)"
        has /tmp/out "groups archive"
        awk 'length > 80 && !/[^ -~]/ { exit 1 }' /tmp/out || say "man: a line is longer than the page"
    done
    echo "man shows $(wc -l </tmp/out) lines"

    dpkg -L vellum | while read -r path; do [ -d "$path" ] || echo "$path"; done >/tmp/files
    # Files that programs, fish and man included, store for the user stay; the package's files are removed.
    rm -rf /home/tester /root/.bashrc /root/.zshrc /root/.local /root/.cache /var/cache/man
    apt-get remove -q -y --purge --autoremove vellum >/tmp/apt.log 2>&1 || fail "$(cat /tmp/apt.log)"
    while read -r path; do [ ! -e "$path" ] || fail "$path is left"; done </tmp/files
    left=$(find / -xdev -iname '*vellum*' ! -path '/tmp/*' ! -path '/proc/*')
    [ -z "$left" ] || fail "left behind: $left"
    echo "nothing is left behind"
}

if [ "${1:-}" = --inside ]; then
    inside
    exit
fi

# MARK: Outside

[ $# -ge 1 ] && [ -f "$1" ] || fail "check-deb.sh PACKAGE.deb [FOLDER]"
package=$1
for tool in lintian debootstrap unshare dpkg-deb; do
    command -v $tool >/dev/null || fail "$tool is missing: apt-get install lintian debootstrap"
done
[ "$(id -u)" -eq 0 ] || fail "only root can make the bare system"

dpkg-deb --info "$package" control
echo "the package has $(stat -c %s "$package") bytes, the program $(dpkg-deb --fsys-tarfile "$package" \
    | tar -tv ./usr/bin/vellum | awk '{ print $3 }')"
lintian --allow-root --fail-on error,warning --info --display-info --tag-display-limit 0 "$package"
echo "lintian is content"

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $release" | head -n 1)
folder=$(mktemp -d "${2:-${TMPDIR:-/tmp}}/vellum-bare-XXXXXX")
trap 'rm -rf --one-file-system "$folder"' EXIT INT TERM
debootstrap --variant=minbase "$release" "$folder/root" "$mirror" >"$folder/log" 2>&1 || fail "$(tail "$folder/log")"
cp "$package" "$folder/root/tmp/vellum.deb"
cp "$0" "$folder/root/tmp/check-deb.sh"
cp /etc/resolv.conf /etc/hosts "$folder/root/etc/"
# Separate namespaces, so that mounts and processes end with the check.
# shellcheck disable=SC2016 # expanded by the inner shell
unshare --mount --pid --fork --kill-child sh -c '
    mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$1" sh /tmp/check-deb.sh --inside' - "$folder/root"
echo "the package is good"
