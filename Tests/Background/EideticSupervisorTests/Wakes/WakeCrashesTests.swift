import EideticCore
import EideticLifecycle
import EideticSupervision
@testable import EideticSupervisor
import Testing

@Suite("Ends of applications in the middle of wakes")
struct WakeCrashesTests {
    private let file = WakeCrashes.ProgramFile(inode: 3, modificationTime: 4)
    private let now = ScheduleTime(steady: 1_700_000_000, local: 1_700_003_600, offset: 3_600)

    private var crashes: WakeCrashes { WakeCrashes(counts: [.fetch: 5], time: now.steady, program: file) }

    @Test("B14 they are forgiven after a day, and to another program, but not to one that is missing")
    func pardon() {
        #expect(crashes.pardon(at: now.advanced(by: .day - 1), program: file) == nil)
        #expect(crashes.pardon(at: now.advanced(by: .day), program: file) == "a day has passed")
        #expect(crashes.pardon(at: now, program: nil) == nil)
        for other in [(3, 5), (2, 4)] as [(UInt64, Int64)] {
            let changed = WakeCrashes.ProgramFile(inode: other.0, modificationTime: other.1)
            #expect(crashes.pardon(at: now, program: changed) == "its program is another one")
        }
    }

    @Test("B14 they outlive the machine's run, with the schedule")
    func recorded() throws {
        var record = WakeRecord(schedule: WakeSchedule(at: now))
        #expect(record.isEmpty)
        record.crashes = crashes
        #expect(!record.isEmpty)
        #expect(try WireReader.decode(WakeRecord.self, from: WireWriter.encode(record)) == record)
    }
}
