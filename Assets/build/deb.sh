#!/bin/sh
# Makes a Debian package of an optimised program with Swift's library in it, so that it runs where no Swift is:
# deb.sh SWIFT FOLDER leaves FOLDER/vellum_VERSION_ARCHITECTURE.deb. Uses Debian's own dpkg-deb, dpkg-shlibdeps and gzip.
set -eu
swift=$1
folder=$2

say() { printf 'vellum: %s\n' "$*" >&2; }
for tool in dpkg-deb dpkg-shlibdeps strip gzip; do
    command -v $tool >/dev/null || { say "$tool is missing; on Debian: apt-get install dpkg-dev binutils gzip"; exit 1; }
done

version=$(sed -n 's/.*static let number = "\(.*\)".*/\1/p' Sources/VellumCommand/Run/Version.swift)
architecture=$(dpkg --print-architecture)
# The changes' last entry in the form that packages have it; the date is that of the last change to the source.
date=$(git log -1 --format=%aD 2>/dev/null || date -R)

$swift build -c release --product vellum --static-swift-stdlib --scratch-path .build-static
root=$folder/root
rm -rf "$root"
mkdir -p "$root/DEBIAN" "$root/usr/share/doc/vellum" "$folder/shlibs/debian"
make --no-print-directory install-files BINARY=.build-static/release/vellum DESTDIR="$root" PREFIX=/usr
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/bin/vellum"
gzip -9n "$root/usr/share/man/man1/vellum.1"
# It is read, never run.
sed -i '1{/^#!/d;}' "$root/usr/share/bash-completion/completions/vellum"
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_vellum" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"

{
    echo "vellum ($version) unstable; urgency=medium"
    echo
    echo "  * Version $version; NEWS.gz says what changed."
    echo
    echo " -- The Vellum authors <vellum@localhost>  $date"
} | gzip -9n >"$root/usr/share/doc/vellum/changelog.gz"
gzip -9nc Assets/CHANGELOG.md >"$root/usr/share/doc/vellum/NEWS.gz"
{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    echo "Upstream-Name: Vellum"
    echo
    echo "Files: *"
    echo "Copyright: 2026 The Vellum authors"
    echo "License: Expat"
    sed '1,4d; s/^$/./; s/^/ /' LICENSE
    echo
    echo "Files: usr/share/vellum/demo/*"
    echo "Copyright: GeoNames"
    echo "License: CC-BY-4.0"
    echo "Comment: the names, places and populations of cities, from GeoNames, under the Creative Commons Attribution"
    echo " 4.0 License."
} >"$root/usr/share/doc/vellum/copyright"

# dpkg-shlibdeps wants a source package around it.
printf 'Source: vellum\n\nPackage: vellum\nArchitecture: any\n' >"$folder/shlibs/debian/control"
program=$(readlink -f "$root/usr/bin/vellum")
depends=$(cd "$folder/shlibs" && dpkg-shlibdeps -O "$program" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { say "the libraries that the program needs belong to no package"; exit 1; }
{
    echo "Package: vellum"
    echo "Version: $version"
    echo "Architecture: $architecture"
    echo "Maintainer: The Vellum authors <vellum@localhost>"
    echo "Installed-Size: $(du -ks "$root/usr" | cut -f1)"
    echo "Depends: $depends"
    echo "Section: database"
    echo "Priority: optional"
    echo "Description: look into caches and collections of Swift programs while they run"
    echo " Vellum keeps objects in memory and on disk, shared by several processes."
    echo " This is its command line and its browser for terminals: they list, query,"
    echo " delete and expire entries of a store that other processes use, without"
    echo " disturbing them."
} >"$root/DEBIAN/control"
find "$root/usr" -type f ! -name vellum -exec chmod 644 {} +
find "$root" -type d -exec chmod 755 {} +
package=$folder/vellum_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
rm -rf "$root" "$folder/shlibs"
say "$package, $(du -h "$package" | cut -f1)"
