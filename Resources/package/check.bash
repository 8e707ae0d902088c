# The part of script/package --check, which knows $source, $release, $suite, $output, $work, `enter` and `make_root`.
# shellcheck shell=bash

packages=${output:-$source/.build/packages/debian-$release}
[ -e "$packages/SHA256SUMS" ] || fail "no packages in $packages"
root=$work/root

# as_user COMMAND: runs a line of the shell in the root, as a user without rights, with a session bus.
as_user() {
    enter "$root" setpriv --reuid=1000 --regid=1000 --clear-groups --no-new-privs env HOME=/home/user USER=user \
        XDG_RUNTIME_DIR=/run/user/1000 dbus-run-session -- sh -euc "cd /home/user
$1"
}

# files: what is in the root, without the records of apt and dpkg and without users' directories.
files() {
    (cd "$root" && find . -xdev \( -path ./home -o -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp \
        -o -path ./run -o -path ./packages -o -path ./var/cache/apt -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
        -o -path ./var/cache/debconf -o -path ./var/log -o -path ./etc/resolv.conf -o -path ./var/cache/ldconfig \) \
        -prune -o -print | sort)
}

say "A clean Debian $release ($suite), with a bus and the thumbnailer of Xfce"
# The clean root is kept: it takes minutes to make, and each check begins with a copy.
clean=$source/.build/packages/clean-$suite.tar
if [ ! -e "$clean" ]; then
    mkdir -p "$(dirname "$clean")"
    make_root "$root" ca-certificates,dbus,python3-gi,strace,tumbler
    tar -C "$root" --one-file-system -cf "$clean.new" . && mv "$clean.new" "$clean"
else
    mkdir "$root"
    tar -C "$root" -xf "$clean"
fi
enter "$root" useradd --create-home --uid 1000 user
install -d -o 1000 -g 1000 -m 700 "$root/run/user/1000"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"
! find "$root" -xdev -name '*swift*' | grep . || fail 'Swift is in the root'
enter "$root" apt-get -qq update
files >"$work/before"

say 'apt install ./eidetic_*.deb'
enter "$root" sh -c 'apt-get -qq -y -o Dpkg::Use-Pty=0 install /packages/eidetic_*.deb' >"$work/apt.log" 2>&1 || fail "$(tail -20 "$work/apt.log")"
grep -c '^Setting up' "$work/apt.log" | sed 's/$/ packages were set up/'
as_user 'eidetic --version'

say 'eidetic load --size 400x300 --out d URL … from a local server'
install -d -o 1000 -g 1000 "$root/home/user/images"
install -o 1000 -g 1000 -m 644 Resources/package/samples/* "$root/home/user/images"
as_user 'cd images && for format in avif webp jpg png gif; do eidetic convert gradient.jxl gradient.$format; done; ls -l'
python3 -u -m http.server --bind 127.0.0.1 --directory "$root/home/user/images" 0 >"$work/server.log" 2>&1 &
server=$!
until port=$(sed -n 's/.*http:\/\/127.0.0.1:\([0-9]*\)\/.*/\1/p' "$work/server.log" | head -1) && [ -n "$port" ]; do sleep 0.1; done
url=http://127.0.0.1:$port
as_user "eidetic load --size 400x300 --out d $url/gradient.jxl $url/gradient.heic $url/gradient.avif $url/gradient.webp $url/drawing.svg $url/gradient.jpg; ls d; eidetic inspect d/*"
as_user "eidetic load --json --sandbox $url/gradient.avif | head -1"
as_user "eidetic load --size 400x300 --out e $url/gradient.heic; eidetic cache info"

say 'Without eidetic-background: eidetic app list'
as_user 'eidetic app list && exit 1 || echo "exit status $?"' 2>&1 | tee "$work/app.log"
grep -q 'package eidetic-background' "$work/app.log" || fail 'no line names the package'

say 'Thumbnails of a desktop: tumblerd over D-Bus, normal size'
cat >"$root/home/user/thumbnails" <<'END'
# Queues images as a file manager does, waits until tumblerd has finished, and reads the tags of the thumbnails.
import hashlib, os, pathlib, struct, sys
from gi.repository import Gio, GLib

IMAGES = {"gradient.avif": "image/avif", "gradient.heic": "image/heif", "gradient.jxl": "image/jxl",
          "gradient.webp": "image/webp", "drawing.svg": "image/svg+xml", "gradient.png": "image/png"}
home = pathlib.Path.home()
uris = {name: (home / "images" / name).as_uri() for name in IMAGES}
name, path = "org.freedesktop.thumbnails.Thumbnailer1", "/org/freedesktop/thumbnails/Thumbnailer1"
proxy = Gio.DBusProxy.new_for_bus_sync(Gio.BusType.SESSION, 0, None, name, path, name, None)
loop = GLib.MainLoop()

def receive(proxy, sender, signal, parameters):
    if signal == "Error": print("tumblerd:", parameters)
    if signal == "Finished": loop.quit()

proxy.connect("g-signal", receive)
arguments = GLib.Variant("(asasssu)", (list(uris.values()), list(IMAGES.values()), "normal", "default", 0))
proxy.call_sync("Queue", arguments, 0, -1, None)
GLib.timeout_add_seconds(120, lambda: sys.exit("tumblerd has not finished"))
loop.run()
for name, uri in uris.items():
    digest = hashlib.md5(uri.encode()).hexdigest()
    data = (home / ".cache/thumbnails/normal" / f"{digest}.png").read_bytes()
    size, position, tags = struct.unpack(">II", data[16:24]), 8, {}
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        if kind == b"tEXt":
            key, value = data[position + 8:position + 8 + length].split(b"\0", 1)
            tags[key.decode()] = value.decode()
        position += length + 12
    changed = int((home / "images" / name).stat().st_mtime)
    assert tags["Thumb::URI"] == uri and int(float(tags["Thumb::MTime"])) == changed, tags
    print(f"{name}: {size[0]}x{size[1]}", {key: value for key, value in tags.items() if key.startswith("Thumb")})
END
# No other plug-in makes any: the one of gdk-pixbuf knows PNG and SVG too.
as_user 'mkdir -p .config/tumbler; printf "[%s]\nDisabled=true\n" PixbufThumbnailer JPEGThumbnailer >.config/tumbler/tumbler.rc
    python3 thumbnails; rm -r .config thumbnails'
say 'The command of the entry, as a tumbler calls it: which processes decode'
as_user 'eval "strace -f -qq -s 200 -o trace -e trace=execve,seccomp $(sed -n "s/^Exec=//p" \
    /usr/share/thumbnailers/eidetic.thumbnailer | sed "s/%s/128/g; s|%i|images/gradient.avif|; s|%o|thumbnail|")"
    grep -E "libexec/eidetic-decode|SECCOMP_SET_MODE_FILTER" trace | cut -c1-140
    grep -q SECCOMP_SET_MODE_FILTER trace; rm trace thumbnail'

say 'apt install ./eidetic-background_*.deb'
enter "$root" sh -c 'apt-get -qq -y -o Dpkg::Use-Pty=0 install /packages/eidetic-background_*.deb' >"$work/apt.log" 2>&1 || fail "$(tail -20 "$work/apt.log")"
! find "$root/etc/systemd" -name 'eidetic*' 2>/dev/null | grep . || fail 'a unit is enabled'
as_user ': >eideticd.log
    eideticd --runtime-directory "$XDG_RUNTIME_DIR/eidetic" >eideticd.log 2>&1 & daemon=$!
    tries=0
    until grep -q ready eideticd.log; do tries=$((tries + 1)); [ $tries -lt 300 ] || { cat eideticd.log; exit 1; }; sleep 0.1; done
    cat eideticd.log; eidetic app list; echo "exit status $?"; eidetic app log
    eidetic transfer list; echo "exit status $?"
    kill $daemon; wait $daemon || true; rm eideticd.log'

say 'Removed, with what was installed for them'
kill "$server" && server=
enter "$root" sh -c 'apt-get -qq -y -o Dpkg::Use-Pty=0 purge eidetic eidetic-background && apt-get -qq -y -o Dpkg::Use-Pty=0 autoremove --purge' >"$work/apt.log" 2>&1 || fail "$(tail -20 "$work/apt.log")"
files >"$work/after"
diff "$work/before" "$work/after" || fail 'the system is not as before'
echo 'The system has the same files as before. The user has, besides the images:'
(cd "$root/home/user" && find . -type f ! -path './images/*' ! -path './.bash*' ! -path './.profile' ! -path './d/*' ! -path './e/*' | sort | sed 's/^/    /')
say "All passed on Debian $release"
