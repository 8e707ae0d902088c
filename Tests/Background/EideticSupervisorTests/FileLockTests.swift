import EideticSupervisor
import Testing

@Suite("File locks of stopped applications")
struct FileLockTests {
    @Test("B15 a lock that a process waits for is found in the list of the kernel")
    func contention() {
        let text = """
            1: POSIX  ADVISORY  WRITE 15851 fe:00:16220217 100 109
            2: FLOCK  ADVISORY  WRITE 15851 fe:00:16220217 0 EOF
            3: OFDLCK ADVISORY  WRITE -1 fe:00:16220217 0 0
            3: -> OFDLCK ADVISORY  WRITE -1 fe:00:16220217 0 0

            """
        let contended = FileLock.contended(in: text)
        #expect(contended.count == 1)
        #expect(contended.first?.kind == "OFDLCK" && contended.first?.end == 0)
    }

    @Test("a line of an open file and a line of the list have one key")
    func keys() {
        let open = FileLock(line: "lock:\t1: FLOCK  ADVISORY  WRITE 15851 fe:00:16220217 0 EOF")
        let listed = FileLock(line: "2: FLOCK  ADVISORY  WRITE 15851 fe:00:16220217 0 EOF")
        #expect(open?.key == listed?.key && open != nil && open?.key.end == nil)
    }

    @Test("damaged lines are no locks", arguments: ["", "lock:", "1: POSIX", "x y z", "1: -> OFDLCK ADVISORY WRITE"])
    func damagedLines(line: String) { #expect(FileLock(line: line[...]) == nil) }
}
