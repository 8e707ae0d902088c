import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("FaultPlan")
struct FaultPlanTests {
    @Test("fails only the chosen call, and records all calls")
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

    @Test("fails every call on a matching path")
    func failsMatchingPaths() throws {
        let directory = try TemporaryDirectory()
        let plan = FaultPlan()
        plan.fail(.mkdir, with: EIO, count: .max, pathContaining: "bad")
        let files = FileSystem(observer: plan)
        for _ in 0..<3 {
            #expect(throws: SystemError.self) { try files.makeDirectory(directory.path(of: "bad")) }
        }
        try files.makeDirectory(directory.path(of: "good"))
    }

    @Test("runs code just before a call")
    func runsBefore() throws {
        let directory = try TemporaryDirectory()
        let plan = FaultPlan()
        let target = directory.path(of: "a")
        plan.before(.mkdir) { mkdir(target, 0o700) }
        #expect(throws: SystemError(.mkdir, errorNumber: EEXIST, path: target)) {
            try FileSystem(observer: plan).makeDirectory(target)
        }
    }
}
