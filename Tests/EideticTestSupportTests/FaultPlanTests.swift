import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("FaultPlan")
struct FaultPlanTests {
    @Test("fails the chosen call only, and records all")
    func failsChosen() throws {
        let directory = try TemporaryDirectory()
        let plan = FaultPlan()
        plan.fail(.mkdir, with: ENOSPC, at: 2)
        let files = FileSystem(observer: plan)
        try files.makeDirectory(directory.path(of: "a"))
        #expect(throws: SystemError(.mkdir, errorNumber: ENOSPC, path: directory.path(of: "b"))) {
            try files.makeDirectory(directory.path(of: "b"))
        }
        try files.makeDirectory(directory.path(of: "c"))
        #expect(plan.calls.map(\.failure) == [nil, ENOSPC, nil])
        #expect(plan.count(of: .mkdir) == 3)
    }

    @Test("fails calls on matching paths for ever")
    func failsForEver() throws {
        let directory = try TemporaryDirectory()
        let plan = FaultPlan()
        plan.fail(.mkdir, with: EIO, count: .max, pathContaining: "bad")
        let files = FileSystem(observer: plan)
        for _ in 0..<3 {
            #expect(throws: SystemError.self) { try files.makeDirectory(directory.path(of: "bad")) }
        }
        try files.makeDirectory(directory.path(of: "good"))
    }

    @Test("runs something just before a call")
    func runsBefore() throws {
        let directory = try TemporaryDirectory()
        let plan = FaultPlan()
        let target = directory.path(of: "a")
        plan.before(.mkdir) { mkdir(target, 0o700) }
        #expect(throws: SystemError(.mkdir, errorNumber: EEXIST, path: target)) {
            try FileSystem(observer: plan).makeDirectory(target)
        }
    }

    @Test("a temporary directory goes with all that is in it")
    func removesDirectory() throws {
        let path: String
        do {
            let directory = try TemporaryDirectory()
            path = directory.path
            try directory.write([1, 2], to: "deep/er/file")
            #expect(try directory.contents(of: "deep/er/file") == [1, 2])
            symlink("/usr", directory.path(of: "link"))
            chmod(directory.path(of: "deep"), 0)
        }
        #expect(access(path, F_OK) != 0)
        #expect(access("/usr", F_OK) == 0)
    }
}
