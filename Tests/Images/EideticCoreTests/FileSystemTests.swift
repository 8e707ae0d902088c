import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("File layer")
struct FileSystemTests {
    @Test("C18 an injected failure carries the call, the error number and the path")
    func faults() throws {
        let directory = try TemporaryDirectory(named: "files"), plan = FaultPlan(), files = FileSystem(observer: plan)
        let path = directory.path(of: "a")
        let calls: [(SystemCall, (FileSystem) throws -> Void)] = [
            (.open, { _ = try $0.contents(of: path) }),
            (.stat, { _ = try $0.status(of: path) }),
            (.lstat, { _ = try $0.linkStatus(of: path) }),
            (.rename, { try $0.rename(path, to: path) }),
            (.unlink, { try $0.unlink(path) }),
            (.mkdir, { try $0.makeDirectory(path) }),
            (.rmdir, { try $0.removeDirectory(path) }),
            (.utimensat, { try $0.setModificationTime(of: path, to: Timestamp(seconds: 1)) }),
            (.statvfs, { _ = try $0.freeSpace(at: path) }),
            (.readdir, { _ = try $0.entryNames(in: path) }),
        ]
        for (call, perform) in calls {
            plan.fail(call, with: EIO)
            let error = #expect(throws: SystemError.self) { try perform(files) }
            #expect(error == SystemError(call, errorNumber: EIO, path: path))
        }
    }

    @Test("C18 a call that a signal interrupts is repeated")
    func interrupted() throws {
        let directory = try TemporaryDirectory(named: "files"), plan = FaultPlan(), files = FileSystem(observer: plan)
        let path = try directory.write([1, 2, 3], to: "a")
        plan.fail(.open, with: EINTR)
        plan.fail(.read, with: EINTR)
        #expect(try files.contents(of: path) == [1, 2, 3])
        #expect(plan.count(of: .open) == 2)
    }

    @Test("C18 a file is replaced completely or not at all", arguments: [SystemCall.open, .write, .rename])
    func replaces(_ call: SystemCall) throws {
        let directory = try TemporaryDirectory(named: "files"), plan = FaultPlan(), files = FileSystem(observer: plan)
        let path = try directory.write([1, 2, 3], to: "a")
        plan.fail(call, with: ENOSPC)
        let error = #expect(throws: SystemError.self) { try files.replaceContents(of: path, with: [4, 5]) }
        #expect(error?.errorNumber == ENOSPC)
        #expect(try directory.contents(of: "a") == [1, 2, 3])
        #expect(try FileSystem().entryNames(in: directory.path) == ["a"])
    }

    /// open(2), "O_TMPFILE"; NFS and FAT, for instance, answer EOPNOTSUPP, and without /proc linkat(2) says ENOENT.
    ///
    /// AppArmor denies links with EACCES, seccomp with ENOSYS or EPERM, and an owner without a number is EOVERFLOW.
    @Test(
        "C18 a file that is not complete has no name; where that cannot be, it has a temporary one",
        arguments: [
            nil, (.open, [EOPNOTSUPP]), (.open, [ENOSYS]), (.open, [EISDIR]), (.open, [EINVAL]),
            (.linkat, [ENOENT, EACCES, ENOSYS, EOVERFLOW, EPERM, EXDEV, EMLINK, EROFS]),
        ] as [(SystemCall, [Int32])?],
        [false, true]
    )
    func unnamed(fault: (call: SystemCall, numbers: [Int32])?, keepsExisting: Bool) throws {
        for number in fault?.numbers ?? [0] {
            let directory = try TemporaryDirectory(named: "files"), plan = FaultPlan()
            let names = NameLog(directory.path, plan: plan), files = FileSystem(observer: names)
            let path = directory.path(of: "a"), bytes: [UInt8] = [4, 5]
            func replace(by bytes: [UInt8]) throws {
                plan.removeAllRules()
                if let fault { plan.fail(fault.call, with: number) }
                // What denies one form of a link denies the other.
                if fault?.call == .linkat { plan.fail(.link, with: number) }
                try files.replaceContents(of: path, with: bytes, keepsExisting: keepsExisting)
            }
            try replace(by: bytes)
            #expect(try directory.contents(of: "a") == bytes)
            #expect(try FileSystem().entryNames(in: directory.path) == ["a"])
            #expect(names.all.isEmpty == (fault == nil), "\(names.all)")
            if keepsExisting {
                let error = #expect(throws: SystemError.self) { try replace(by: [6]) }
                #expect(error?.errorNumber == EEXIST)
            } else {
                try replace(by: [6])
            }
            #expect(try directory.contents(of: "a") == (keepsExisting ? bytes : [6]))
            #expect(try FileSystem().entryNames(in: directory.path) == ["a"])
            #expect(names.all.subtracting(["a"]).isEmpty == (fault == nil), "\(names.all)")
        }
    }

    @Test("C18 a link that fails for lack of space, or of the disk, is an error", arguments: [ENOSPC, EDQUOT, EIO])
    func failedLink(_ number: Int32) throws {
        let directory = try TemporaryDirectory(named: "files"), plan = FaultPlan(), files = FileSystem(observer: plan)
        plan.fail(.linkat, with: number)
        let error = #expect(throws: SystemError.self) {
            try files.replaceContents(of: directory.path(of: "a"), with: [4])
        }
        #expect(error?.call == .linkat && error?.errorNumber == number)
        #expect(try FileSystem().entryNames(in: directory.path).isEmpty)
    }

    @Test("C18 a slash before a combining mark ends a directory")
    func combinedSlash() throws {
        let directory = try TemporaryDirectory(named: "files"), plan = FaultPlan(), files = FileSystem(observer: plan)
        let opened = try FileSystem().open(directory.path, flags: O_RDONLY | O_DIRECTORY), name = "\u{301}x.png"
        // The directory before it can have no file, neither without a name nor with one.
        try files.replaceContents(of: "/proc/self/fd/\(opened.rawValue)/\(name)", with: [4])
        #expect(try FileSystem().entryNames(in: directory.path) == [name])
        #expect(plan.count(of: .open) == 1)
        let deep = directory.path(of: "one/\(name)/\(name)")
        try files.makeDirectories(deep)
        #expect(try files.status(of: deep).kind == .directory)
    }

    @Test(
        "F07 a file larger than the limit is rejected: one byte below, at, and above the limit",
        arguments: [(2, false), (3, true), (4, true)]
    )
    func limit(_ limit: Int, isRead: Bool) throws {
        let directory = try TemporaryDirectory(named: "files")
        let path = try directory.write([1, 2, 3], to: "a")
        #expect((try? FileSystem().contents(of: path, limit: limit)) == (isRead ? [1, 2, 3] : nil))
    }

    @Test("C03 a directory that an existing one refuses to contain is an error", arguments: [".", "1/2/3"])
    func refusedDirectory(name: String) {
        // proc(5) answers ENOENT to every mkdir(2) below it.
        let path = "/proc/eidetic-none/\(name)"
        let error = #expect(throws: SystemError.self) { try FileSystem().makeDirectories(path) }
        #expect(error?.call == .mkdir && error?.errorNumber == ENOENT)
    }

    @Test("C03 what is read as a file is a regular one: a pipe keeps no thread waiting")
    func pipes() throws {
        let directory = try TemporaryDirectory(named: "pipe"), path = directory.path(of: "fifo")
        #expect(mkfifo(path, 0o600) == 0)
        for path in [path, "/dev/zero"] {
            let error = #expect(throws: SystemError.self) { try FileSystem().contents(of: path) }
            #expect(error?.errorNumber == EINVAL)
        }
    }

    @Test("C03 the depth of a missing path ends no process")
    func deepDirectory() throws {
        let directory = try TemporaryDirectory(named: "files"), files = FileSystem()
        // PATH_MAX is 4,096 bytes, with the terminator.
        let depth = (4_095 - directory.path.utf8.count) / 2
        try files.makeDirectories(directory.path + String(repeating: "/a", count: depth))
        let error = #expect(throws: SystemError.self) {
            try files.makeDirectories(directory.path + String(repeating: "/a", count: 100_000))
        }
        #expect(error?.errorNumber == ENAMETOOLONG)
    }

    @Test("C03 missing parent directories are created; a file of that name is an error")
    func directories() throws {
        let directory = try TemporaryDirectory(named: "files"), files = FileSystem()
        try files.makeDirectories(directory.path(of: "a/b/c"))
        try files.makeDirectories(directory.path(of: "a/b/c"))
        #expect(try files.status(of: directory.path(of: "a/b/c")).kind == .directory)
        try directory.write([], to: "d")
        let error = #expect(throws: SystemError.self) { try files.makeDirectories(directory.path(of: "d")) }
        #expect(error?.errorNumber == ENOTDIR)
    }

    @Test(
        "C06 system errors become Eidetic errors",
        arguments: [
            (ENOSPC, EideticError.Code.diskFull), (EACCES, .permissionDenied), (ENOENT, .notFound), (EIO, .fileFailure),
        ]
    )
    func translation(_ number: Int32, code: EideticError.Code) {
        let error = EideticError(SystemError(.open, errorNumber: number, path: "/a"))
        #expect(error.code == code)
        #expect(error.systemErrorNumber == number)
        #expect(error.message.hasPrefix("open /a: "))
    }
}

/// The names of the files in a directory while one is written, and the calls that fail.
private final class NameLog: SystemCallObserver {
    private let directory: String
    private let plan: FaultPlan
    private let names = Guarded<Set<String>>([])

    init(_ directory: String, plan: FaultPlan) {
        self.directory = directory
        self.plan = plan
    }

    var all: Set<String> { names.withLock { $0 } }

    func willPerform(_ call: SystemCall, path: String?) -> Int32? {
        if call == .write {
            let found = (try? FileSystem().entryNames(in: directory)) ?? []
            names.withLock { $0.formUnion(found) }
        }
        return plan.willPerform(call, path: path)
    }
}
