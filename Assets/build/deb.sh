#!/bin/sh
# Builds a Debian package of an optimised program, statically linked with Swift's library:
# deb.sh SWIFT FOLDER [PROGRAM] creates FOLDER/vellum_VERSION_ARCHITECTURE.deb. With PROGRAM, no program is built. Uses dpkg-deb,
# dpkg-shlibdeps and gzip. DEBFULLNAME and DEBEMAIL set the maintainer. check-deb.sh checks the package.
set -eu
swift=$1
folder=$2
built=${3:-}

say() { printf 'vellum: %s\n' "$*" >&2; }
for tool in dpkg-deb dpkg-shlibdeps strip gzip md5sum; do
    command -v $tool >/dev/null || { say "$tool is missing; on Debian: apt-get install dpkg-dev binutils gzip"; exit 1; }
done

version=$(sed -n 's/.*static let number = "\(.*\)".*/\1/p' Sources/VellumCommand/Run/Version.swift)
architecture=$(dpkg --print-architecture)
# The date of the package's changelog is that of the last change to the sources.
date=$(git log -1 --format=%aD 2>/dev/null || date -R)
maintainer="${DEBFULLNAME:-The Vellum authors} <${DEBEMAIL:-vellum@localhost}>"

if [ -z "$built" ]; then
    $swift build -c release --product vellum --static-swift-stdlib -Xlinker -z -Xlinker now --scratch-path .build-static
    built=.build-static/release/vellum
fi
root=$folder/root
rm -rf "$root"
mkdir -p "$root/DEBIAN" "$root/usr/share/doc/vellum" "$root/usr/share/lintian/overrides" "$folder/shlibs/debian"
make --no-print-directory install-files BINARY="$built" DESTDIR="$root" PREFIX=/usr
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/bin/vellum"
gzip -9n "$root/usr/share/man/man1/vellum.1"
# The file is sourced, not executed.
sed -i '1{/^#!/d;}' "$root/usr/share/bash-completion/completions/vellum"
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_vellum" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
# The copyright file includes this licence.
rm -r "$root/usr/share/vellum"

{
    echo "vellum ($version) unstable; urgency=medium"
    echo
    echo "  * Version $version; NEWS.gz lists the changes."
    echo
    echo " -- $maintainer  $date"
} | gzip -9n >"$root/usr/share/doc/vellum/changelog.gz"
gzip -9nc Assets/CHANGELOG.md >"$root/usr/share/doc/vellum/NEWS.gz"
{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    echo "Upstream-Name: Vellum"
    echo
    echo "Files: *"
    echo "Copyright: 2026 The Vellum authors"
    echo "License: Expat"
    echo
    echo "Files: usr/bin/vellum"
    echo "Copyright: 2026 The Vellum authors"
    echo " 2024 Jeff Lebrun (TOMLKit)"
    echo " Mark Gillard, 2008-2009 Bjoern Hoehrmann (toml++)"
    echo " 1991-2024 Unicode, Inc. (ICU, below Swift's Foundation)"
    echo " 2014-2026 Apple Inc. and the Swift project authors (Swift's libraries, ArgumentParser)"
    echo "License: Expat and Apache-2.0-with-Swift-exception"
    echo
    # The cities of the demonstration, embedded in the program.
    echo "Files: Assets/demo/*"
    echo "Copyright: GeoNames, https://www.geonames.org"
    echo "License: CC-BY-4.0"
    echo
    echo "License: Expat"
    sed '1,4d; s/^$/./; s/^/ /' LICENSE
    echo
    echo "License: Apache-2.0-with-Swift-exception"
    echo " On Debian systems, the Apache License, version 2.0, is in /usr/share/common-licenses/Apache-2.0."
    echo " ."
    echo " As an exception, if you use this Software to compile your source code and portions of this Software are"
    echo " embedded into the binary product as a result, you may redistribute such product without providing attribution"
    echo " as would otherwise be required by Sections 4(a), 4(b) and 4(d) of the License."
    echo
    echo "License: CC-BY-4.0"
    sed '1,2d; s/^$/./; s/^/ /' Assets/demo/LICENSE.md
} >"$root/usr/share/doc/vellum/copyright"

{
    if [ -z "${DEBEMAIL:-}" ]; then
        echo "# The project has no mailbox; DEBEMAIL names who makes the package."
        echo "vellum: bogus-mail-host *"
        echo "vellum: bogus-mail-host-in-debian-changelog *"
    fi
    echo "# Nearly all C in the program is that of Swift's libraries, which come built."
    echo "vellum: hardening-no-fortify-functions *"
    echo "# These words are in Swift's libraries: languages of ICU's tables, and texts that only look like words."
    echo "vellum: spelling-error-in-binary *"
} >"$root/usr/share/lintian/overrides/vellum"

# dpkg-shlibdeps needs the layout of a source package.
printf 'Source: vellum\n\nPackage: vellum\nArchitecture: any\n' >"$folder/shlibs/debian/control"
program=$(readlink -f "$root/usr/bin/vellum")
depends=$(cd "$folder/shlibs" && dpkg-shlibdeps -O "$program" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { say "the libraries that the program needs belong to no package"; exit 1; }
{
    echo "Package: vellum"
    echo "Version: $version"
    echo "Architecture: $architecture"
    echo "Maintainer: $maintainer"
    echo "Installed-Size: $(du -ks "$root/usr" | cut -f1)"
    echo "Depends: $depends"
    echo "Section: database"
    echo "Priority: optional"
    echo "Description: inspect caches and collections of Swift programs while they run"
    echo " Vellum keeps objects in memory and on disk, shared by several processes."
    echo " This is its command line and its browser for terminals: they list, query,"
    echo " delete and expire entries of a store that other processes use, without"
    echo " disturbing them."
} >"$root/DEBIAN/control"
find "$root/usr" -type f ! -name vellum -exec chmod 644 {} +
find "$root" -type d -exec chmod 755 {} +
(cd "$root" && find usr -type f -exec md5sum {} + | sort -k 2) >"$root/DEBIAN/md5sums"
package=$folder/vellum_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
rm -rf "$root" "$folder/shlibs"
say "$package, $(du -h "$package" | cut -f1)"
