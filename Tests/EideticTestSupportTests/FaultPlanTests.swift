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
        try files.makeDirectory(directory.path("a"))
        #expect(throws: SystemError(.mkdir, ENOSPC, path: directory.path("b"))) {
            try files.makeDirectory(directory.path("b"))
        }
        try files.makeDirectory(directory.path("c"))
        #expect(plan.calls.map(\.failure) == [nil, ENOSPC, nil])
        #expect(plan.count(of: .mkdir) == 3)
    }

    @Test("fails calls on matching paths for ever")
    func failsForEver() throws {
        let directory = try TemporaryDirectory()
        let plan = FaultPlan()
        plan.fail(.mkdir, with: EIO, count: .max, pathPart: "bad")
        let files = FileSystem(observer: plan)
        for _ in 0..<3 {
            #expect(throws: SystemError.self) { try files.makeDirectory(directory.path("bad")) }
        }
        try files.makeDirectory(directory.path("good"))
    }

    @Test("runs something just before a call")
    func runsBefore() throws {
        let directory = try TemporaryDirectory()
        let plan = FaultPlan()
        let target = directory.path("a")
        plan.before(.mkdir) { mkdir(target, 0o700) }
        #expect(throws: SystemError(.mkdir, EEXIST, path: target)) {
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
            symlink("/usr", directory.path("link"))
            chmod(directory.path("deep"), 0)
        }
        #expect(access(path, F_OK) != 0)
        #expect(access("/usr", F_OK) == 0)
    }
}
