import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import EideticLifecycle
import Testing

@Suite("Desktop entries of applications")
struct ManifestTests {
    private static let head = "[Desktop Entry]\nType=Application\nName=Mail\n"

    private static func manifest(_ text: String, identifier: String = "mail") throws(ManifestError) -> Manifest {
        try Manifest(parsing: Array(text.utf8), identifier: identifier, path: "/d/\(identifier).desktop")
    }

    @Test("B10 a desktop entry declares modes, budget, schemes, and the program")
    func declarations() throws {
        let manifest = try Self.manifest(
            """
            # A comment

            [Desktop Entry]
            Type = Application
            Name=Mail
            Name[de]=Post
            Icon=mail
            Exec=/bin/sh -c "exec \\\\\\\\ \\\\"x\\\\" \\\\$0" %i --name=%c %U 100%% %k
            Path=/tmp
            MimeType=text/plain;x-scheme-handler/MailTo;x-scheme-handler/news;
            DBusActivatable=true
            X-Eidetic-BackgroundModes=fetch;remote-notification;audio;teleport;
            X-Eidetic-BackgroundBudget=30
            X-Eidetic-ExitsOnSuspend=true

            [Desktop Action new]
            Name=New
            """
        )
        #expect(manifest.modes == [.fetch, .remoteNotification, .audio] && manifest.unknownModes == ["teleport"])
        #expect(manifest.modes.wakeKinds == [.fetch, .push, .notification] && manifest.modes.assertions == [.audio])
        #expect(manifest.backgroundBudget == .seconds(30) && manifest.exitsOnSuspend == true)
        #expect(manifest.schemes == ["mailto", "news"] && manifest.isBusActivatable && manifest.icon == "mail")
        let program = try #require(manifest.program)
        #expect(
            program.arguments
                == ["-c", "exec \\ \"x\" $0", "--icon", "mail", "--name=Mail", "100%", "/d/mail.desktop"]
        )
        #expect(program.directory == "/tmp" && program.executable.hasPrefix("/"))
    }

    @Test("B10 a value may begin with a combining mark")
    func combiningMark() throws {
        #expect(try Self.manifest(Self.head + "Exec=mail\nIcon=\u{301}x\n").identifier == "mail")
        let command = "Exec=/bin/true \"\u{301}a b\" \u{301}c %%\u{301}d\nX-Eidetic-BackgroundModes=fetch;\u{301}x;\n"
        let manifest = try Self.manifest(Self.head + command)
        #expect(manifest.program?.arguments == ["\u{301}a b", "\u{301}c", "%\u{301}d"])
        #expect(manifest.modes == [.fetch] && manifest.unknownModes == ["\u{301}x"])
    }

    @Test("B10 an entry without keys declares nothing, and a mode for every kind of wake but notifications")
    func nothing() throws {
        let manifest = try Self.manifest(Self.head + "Exec=mail\n")
        #expect(manifest.modes.isEmpty && manifest.backgroundBudget == nil && manifest.exitsOnSuspend == nil)
        #expect(Set(DeclaredMode.allCases).wakeKinds == Set(WakeReason.Kind.allCases))
    }

    private static let faults: [(text: String, ManifestError)] = [
        ("", .missing("[Desktop Entry]")),
        ("Name=x\n[Desktop Entry]\n", .invalidLine(line: 1)),
        (head + "[Desktop Entry]\n", .duplicate("[Desktop Entry]", line: 4)),
        (head + "Name=x\n", .duplicate("Name", line: 4)),
        (head + "Exec\n", .invalidLine(line: 4)),
        (head + "=x\n", .invalidLine(line: 4)),
        (head + "[x\n", .invalidLine(line: 4)),
        (head + "Exec=a\u{1}b\n", .invalidText(line: 4)),
        (head, .missing("Exec")),
        ("[Desktop Entry]\nType=Link\n", .invalidValue(key: "Type", reason: "it is not Application")),
        ("[Desktop Entry]\nType=Application\nExec=a\n", .missing("Name")),
        (head + "Exec=a\nIcon=\\q\n", .invalidValue(key: "Icon", reason: "\\q is no escape sequence")),
        (head + "Exec=a\nIcon=\\\n", .invalidValue(key: "Icon", reason: "\\ is no escape sequence")),
        (head + "Exec=a\nPath=b\n", .invalidValue(key: "Path", reason: "it is no absolute path")),
    ]

    @Test("a damaged entry is refused with its line and its fault", arguments: faults)
    func damaged(text: String, error: ManifestError) {
        #expect(throws: error) { _ = try Self.manifest(text) }
    }

    @Test(
        "a command line is refused that has no meaning",
        arguments: [
            "", "a/b", "./a", "a=b", "%u", "a %", "a %x", "a x%i", "a %f %u", "a \"b", "a \"b\"c", "a \"\\\\x\"",
            "a \"$b\"", "a b'c", "a $b", "a &", "a \\\\", "\"\"",
        ]
    )
    func commandLine(exec: String) {
        #expect {
            _ = try Self.manifest(Self.head + "Exec=\(exec)\n")
        } throws: { error in
            if case ManifestError.invalidValue("Exec", _) = error { true } else { false }
        }
    }

    @Test(
        "B10 a budget is a number of seconds from 5 to 600",
        arguments: ["4", "5", "600", "601", "x", "", "-5", "5.0"]
    )
    func budget(text: String) throws {
        let entry = Self.head + "Exec=a\nX-Eidetic-BackgroundBudget=\(text)\n"
        guard text == "5" || text == "600" else {
            #expect(throws: ManifestError.self) { _ = try Self.manifest(entry) }
            return
        }
        #expect(try Self.manifest(entry).backgroundBudget == .seconds(text == "5" ? 5 : 600))
    }

    @Test("a Boolean is true or false", arguments: ["true", "false", "1", "True", ""])
    func boolean(text: String) {
        let entry = Self.head + "Exec=a\nX-Eidetic-ExitsOnSuspend=\(text)\n"
        #expect(((try? Self.manifest(entry)) != nil) == ["true", "false"].contains(text))
    }

    @Test("F07 each limit of a desktop entry: one below, at it, and one above", arguments: [-1, 0, 1])
    func limits(difference: Int) {
        let isWithin = difference <= 0
        func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(((try? Self.manifest(text)) != nil) == isWithin, sourceLocation: sourceLocation)
        }
        let basis = Self.head + "Exec=a\n"
        let fill = DesktopEntry.sizeLimit - basis.utf8.count + difference
        let comments = String(repeating: "#" + String(repeating: "c", count: 1_022) + "\n", count: fill / 1_024)
        expect(basis + comments + String(repeating: "\n", count: fill - fill / 1_024 * 1_024))
        expect(basis + "X=" + String(repeating: "v", count: DesktopEntry.lineLimit - 2 + difference) + "\n")
        let keys = (0..<DesktopEntry.keyLimit - 3 + difference).map { "K\($0)=\n" }
        expect(basis + keys.joined())
        let elements = String(repeating: "m;", count: DesktopEntry.listLimit - 1 + difference)
        expect(basis + "X-Eidetic-BackgroundModes=\(elements)\n")
        expect(Self.head + "Exec=a" + String(repeating: " b", count: DesktopEntry.listLimit - 1 + difference) + "\n")
    }

    @Test("the first directory with a file counts, also if it hides the application")
    func directories() throws {
        let directory = try TemporaryDirectory(named: "entries")
        func write(_ path: String, _ lines: String) throws {
            _ = try directory.write(Array((Self.head + "Exec=sh\n" + lines).utf8), to: path)
        }
        let mode = "X-Eidetic-BackgroundModes=fetch\n"
        try write("one/a.desktop", mode)
        try write("two/a.desktop", "X-Eidetic-BackgroundModes=audio\n")
        try write("one/b.desktop", mode + "Hidden=true\n")
        try write("two/b.desktop", mode)
        try write("two/c.desktop", "# X-Eidetic-\n")
        try write("two/d.desktop", mode + "X-Eidetic-ExitsOnSuspend=no\n")
        let directories = ManifestDirectories(paths: ["one", "two", "missing"].map(directory.path))
        #expect(directories.manifest(of: "a").manifest?.modes == [.fetch])
        #expect(directories.manifest(of: "b") == .none && directories.manifest(of: "c") == .none)
        #expect(directories.manifest(of: "../two/a") == .none && directories.manifest(of: "e") == .none)
        guard case .invalid(let path, let error) = directories.manifest(of: "d") else {
            Issue.record("d is valid")
            return
        }
        #expect(path.hasSuffix("two/d.desktop") && "\(error)".contains("X-Eidetic-ExitsOnSuspend"))
        #expect(directories.identifiers == ["a"])
    }

    @Test("B09 the preferred application of a scheme is chosen, or else the first")
    func schemes() throws {
        let directory = try TemporaryDirectory(named: "entries")
        for name in ["one", "two"] {
            let entry = Self.head + "Exec=sh\nMimeType=x-scheme-handler/x;\nX-Eidetic-BackgroundModes=\n"
            _ = try directory.write(Array(entry.utf8), to: "\(name).desktop")
        }
        let list = directory.path(of: "mimeapps.list")
        let directories = ManifestDirectories(paths: [directory.path], preferences: [list])
        #expect(directories.manifest(forScheme: "X").manifest?.identifier == "one")
        let text = "[Added Associations]\nx=y\n[Default Applications]\nx-scheme-handler/x=three.desktop;two.desktop\n"
        _ = try directory.write(Array(text.utf8), to: "mimeapps.list")
        #expect(directories.manifest(forScheme: "x").manifest?.identifier == "two")
        #expect(directories.manifest(forScheme: "y") == .none)
    }
}
