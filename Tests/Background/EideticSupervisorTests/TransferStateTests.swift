@testable import EideticSupervisor
import Testing

@Suite("States of applications for the transfer process")
struct TransferStateTests {
    private let held = TransferState(isRunning: true, isHeld: true)
    private let running = TransferState(isRunning: true, isHeld: false)
    private let ended = TransferState()

    @Test("B14 events are held while an application is held, and no other one of the name runs that is not")
    func sharedNames() {
        #expect(!TransferState.holdsEvents(ofAll: []))
        #expect(TransferState.holdsEvents(ofAll: [held]) && TransferState.holdsEvents(ofAll: [held, held]))
        #expect(TransferState.holdsEvents(ofAll: [held, ended]))
        #expect(!TransferState.holdsEvents(ofAll: [running]) && !TransferState.holdsEvents(ofAll: [ended]))
        #expect(!TransferState.holdsEvents(ofAll: [held, running]))
    }
}
