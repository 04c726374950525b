import Foundation
import TestSupport
import Testing

/// `make install` and `make uninstall`, without the build.
@Suite("installing")
struct InstallationTests {
    private let folder: TemporaryFolder
    private let system: String
    private var prefix: String { system + "/usr/local" }

    /// The folder's name has a space, and it holds a foreign file.
    init() throws {
        folder = TemporaryFolder()
        system = folder / "a system"
        try FileManager.default.createDirectory(atPath: prefix + "/bin", withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: prefix + "/bin/other"))
    }

    private static let isThere = (try? Vellum.shell("command -v make install").status) == 0

    /// Without Swift, as for root, and without the variables of an outer `make`.
    private func make(_ target: String, _ more: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            "/usr/bin/env",
            [
                "make", "-C", Vellum.root.path, target, "DESTDIR=" + system, "PREFIX=/usr/local",
                "BINARY=" + Vellum.executable.path,
            ] + more,
            environment: Vellum.environment([
                "PATH": "/usr/bin:/bin", "SWIFT": "/nonexistent", "MAKEFLAGS": "",
            ]))
    }

    /// The files in the prefix except the foreign one.
    private func files() throws -> Set<String> {
        let all = try FileManager.default.subpathsOfDirectory(atPath: prefix)
        return Set(
            all.filter { path in
                var isFolder: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: prefix + "/" + path, isDirectory: &isFolder)
                return !isFolder.boolValue
            }
        ).subtracting(["bin/other"])
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: prefix + "/" + path)[.posixPermissions] as? Int
    }

    @Test(.enabled(if: isThere, "make and install are needed"))
    func installsAndUninstalls() throws {
        let installed = try make("install-files")
        #expect(installed.status == 0, "\(installed.errors)")
        #expect(
            try files() == [
                "bin/vellum", "share/man/man1/vellum.1", "share/bash-completion/completions/vellum",
                "share/zsh/site-functions/_vellum", "share/fish/vendor_completions.d/vellum.fish",
                "share/vellum/demo/LICENSE.md",
            ])
        #expect(try mode("bin/vellum") == 0o755 && mode("share/man/man1/vellum.1") == 0o644)
        let program = prefix + "/bin/vellum"
        func run(_ words: String...) throws -> ChildProcess.Outcome {
            try ChildProcess.run(
                program, words,
                environment: Vellum.environment(["VELLUM_ASSETS": "", "TMPDIR": folder.path]))
        }
        #expect(try run("--version").text == Vellum.run(["--version"]).text)
        try run("demo", "--no-browse", "--seconds", "0.1").expect(0, errors: "recorded 6,204 entries")
        let removed = try make("uninstall")
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(try files().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: prefix + "/share/vellum"))
        #expect(FileManager.default.fileExists(atPath: prefix + "/bin/other"))
    }

    /// `sudo make install` after `make build` neither builds nor needs Swift.
    @Test(.enabled(if: isThere, "make and install are needed"))
    func rootNeedsNoSwift() throws {
        let installed = try make("install", "SUDO_USER=somebody")
        #expect(installed.status == 0, "\(installed.errors)")
        #expect(try files().contains("bin/vellum"))
        // Without a built program it builds.
        let missing = try make("install", "SUDO_USER=somebody", "BINARY=/nonexistent/vellum", "--dry-run")
        #expect(missing.text.contains("/nonexistent build"), "\(missing.text)")
    }

    @Test(arguments: ["C.UTF-8", "POSIX"])
    func manPageFitsTerminal(locale: String) throws {
        let page = Vellum.root.appendingPathComponent("Assets/man/vellum.1").path
        guard try Vellum.shell("command -v man && man --version | grep -q man-db").status == 0 else {
            try Test.cancel("there is no man-db here")
        }
        let shown = try ChildProcess.run(
            "/usr/bin/env", ["man", "--warnings", "-l", page],
            environment: Vellum.environment([
                "LC_ALL": locale, "MANWIDTH": "80", "MANPAGER": "cat", "TERM": "dumb",
            ]))
        #expect(shown.status == 0 && shown.errors.isEmpty, "\(shown.errors)")
        #expect(shown.lines.count > 500 && shown.text.contains("groups archive"))
        let wide = shown.lines.filter { $0.replacing(/.\u{8}/, with: "").count > 80 }
        #expect(wide.isEmpty, "\(wide)")
    }

    /// `make deb` without the build, with a small program instead of vellum. `make check-deb` tests the real one with lintian on
    /// a bare system.
    @Test func buildsDebianPackage() throws {
        guard try Vellum.shell("command -v dpkg-deb dpkg-shlibdeps strip gzip make").status == 0 else {
            try Test.cancel("there are no tools for packages here")
        }
        let version = try Vellum.run(["--version"]).text.prefix { $0.isNumber || $0 == "." }
        let made = try Vellum.shell(
            """
            cd "$1" && unset DEBEMAIL DEBFULLNAME MAKEFLAGS && sh Assets/build/deb.sh none "$2" /bin/cat >&2 || exit 1
            cd "$2" && package=$(echo *.deb) && echo "$package" && dpkg-deb --field "$package" && echo --- \\
                && dpkg-deb --contents "$package" && echo --- && dpkg-deb --ctrl-tarfile "$package" | tar -xO ./md5sums
            """, Vellum.root.path, folder.path)
        #expect(made.status == 0, "\(made.errors)")
        let parts = made.text.components(separatedBy: "---\n")
        try #require(parts.count == 3)
        #expect(parts[0].hasPrefix("vellum_\(version)_"))
        for field in [
            "Package: vellum", "Version: \(version)", "Architecture: ", "Maintainer: The Vellum authors <",
            "Installed-Size: ", "Depends: libc6 (", "Section: ", "Priority: optional", "Description: inspect",
        ] {
            #expect(parts[0].contains("\n" + field), "\(field)")
        }
        let entries = parts[1].split(separator: "\n").filter { $0.hasPrefix("-") }
        let paths = Set(entries.compactMap { $0.split(separator: " ").last.map { String($0.dropFirst(2)) } })
        #expect(
            paths == [
                "usr/bin/vellum", "usr/share/bash-completion/completions/vellum",
                "usr/share/doc/vellum/NEWS.gz",
                "usr/share/doc/vellum/changelog.gz", "usr/share/doc/vellum/copyright",
                "usr/share/fish/vendor_completions.d/vellum.fish", "usr/share/lintian/overrides/vellum",
                "usr/share/man/man1/vellum.1.gz", "usr/share/zsh/vendor-completions/_vellum",
            ])
        for entry in entries {
            let mode = entry.hasSuffix("/bin/vellum") ? "-rwxr-xr-x" : "-rw-r--r--"
            #expect(entry.hasPrefix(mode + " root/root "), "\(entry)")
        }
        let sums = parts[2].split(separator: "\n").compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
        #expect(Set(sums) == paths)
    }

    @Test(arguments: ["check-deb.sh", "deb.sh", "docs.sh", "failed.sh", "fuzz.sh", "need.sh"])
    func scriptParses(name: String) throws {
        let parsed = try Vellum.shell("sh -n \"$1\"", Vellum.root.path + "/Assets/build/" + name)
        #expect(parsed.status == 0 && parsed.errors.isEmpty, "\(parsed.errors)")
    }
}
