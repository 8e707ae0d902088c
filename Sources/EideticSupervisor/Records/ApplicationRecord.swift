package import EideticWire
package import LifecycleCore

/// The facts about an application that outlive the supervisor's process.
///
/// The kernel knows who runs and who is frozen; this is the rest.
package struct ApplicationRecord: Sendable, Hashable {
    package var program: ProgramDescription?
    package var wasForceQuit = false
    package var launchCrashCount: UInt32 = 0
    /// The number of processes that were started, of which each has its own control group and page.
    package var processNumber: UInt64 = 0
    package var process: ProcessRecord?
    /// The requests for a launch that waits for the end of the process.
    package var waitingWakes: [WakeRecord] = []

    package init() {}

    /// A wake that was accepted, and that no process has received.
    package struct WakeRecord: Sendable, Hashable {
        package var reason: WakeReason
        package var allowance: Duration

        package init(reason: WakeReason, allowance: Duration) { (self.reason, self.allowance) = (reason, allowance) }

        package init(_ wake: Lifecycle.AcceptedWake) { self.init(reason: wake.reason, allowance: wake.allowance) }
    }

    /// The process of an application.
    package struct ProcessRecord: Sendable, Hashable {
        /// The number of the process; 0 while it is being started.
        package var identifier: Int32 = 0
        package var startTime: UInt64 = 0
        package var freezer = FreezerKind.group
        /// The state that the completed callbacks have led to; `nil` before the launch.
        package var state: AdoptedProcess.State?
        /// A Boolean value indicating whether the launch shows nothing.
        package var isBackgroundLaunch = false
        package var assertions: Set<ContinuousAssertion> = []
        package var declarations = Hello.Declarations()
        /// The time at which the process was suspended; `nil` while it runs.
        package var suspensionTime: Duration?
        /// The reason for which the supervisor is killing the process.
        package var killReport: String?
        /// The directory of the control group; `nil` if signals are used.
        package var groupPath: String?
        /// The requests that were accepted and not carried out.
        package var intention = Intention()

        package init() {}
    }

    /// The requests that were accepted and not carried out, with which a successor continues.
    package struct Intention: Sendable, Hashable {
        package var isVisible = true
        package var isFocused = true
        package var isTerminating = false
        /// The time at which the open tasks of a terminating application expire; `nil` if it does not terminate.
        package var graceEnd: Duration?
        /// The wakes that the application has not received.
        package var wakes: [WakeRecord] = []
        /// The URLs that the application has not received.
        package var urls: [String] = []
        /// The presentation that the application has reported last.
        package var presentation: PresentationMessage?

        package init() {}
    }

    private static let version: UInt8 = 3
}

extension ApplicationRecord: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(Self.version)
        writer.append(optional: program) { $0.append($1) }
        writer.append(wasForceQuit)
        writer.append(launchCrashCount)
        writer.append(processNumber)
        writer.append(optional: process) { $0.append($1) }
        writer.append(list: waitingWakes) { $0.append($1) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let version = try reader.integer(UInt8.self)
        guard version == Self.version else { throw .unknownCase(type: "ApplicationRecord", value: UInt64(version)) }
        program = try reader.optional { (reader) throws(WireError) in try ProgramDescription(from: &reader) }
        wasForceQuit = try reader.boolean()
        launchCrashCount = try reader.integer()
        processNumber = try reader.integer()
        process = try reader.optional { (reader) throws(WireError) in try ProcessRecord(from: &reader) }
        waitingWakes = try reader.list { (reader) throws(WireError) in try WakeRecord(from: &reader) }
    }
}

extension ApplicationRecord.ProcessRecord: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(identifier)
        writer.append(startTime)
        writer.append(freezer.rawValue)
        writer.append(optional: state) { $0.append($1.rawValue) }
        writer.append(isBackgroundLaunch)
        writer.append(list: assertions.map(\.rawValue).sorted()) { $0.append($1) }
        writer.append(declarations)
        writer.append(optional: suspensionTime) { $0.append($1) }
        writer.append(optional: killReport) { $0.append($1) }
        writer.append(optional: groupPath) { $0.append($1) }
        writer.append(intention)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        identifier = try reader.integer()
        startTime = try reader.integer()
        freezer = FreezerKind(rawValue: try reader.text(limit: 16)) ?? .signals
        state = try reader.optional { (reader) throws(WireError) in try reader.enumeration(AdoptedProcess.State.self) }
        isBackgroundLaunch = try reader.boolean()
        assertions = Set(
            try reader.list(limit: 64) { (reader) throws(WireError) in try reader.enumeration(ContinuousAssertion.self)
            }
        )
        declarations = try Hello.Declarations(from: &reader)
        suspensionTime = try reader.optional { (reader) throws(WireError) in try reader.duration() }
        killReport = try reader.optional { (reader) throws(WireError) in try reader.text() }
        groupPath = try reader.optional { (reader) throws(WireError) in try reader.text() }
        intention = try ApplicationRecord.Intention(from: &reader)
    }
}

extension ApplicationRecord.WakeRecord: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(reason)
        writer.append(allowance)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init(reason: try WakeReason(from: &reader), allowance: try reader.duration())
    }
}

extension ApplicationRecord.Intention: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        for flag in [isVisible, isFocused, isTerminating] { writer.append(flag) }
        writer.append(optional: graceEnd) { $0.append($1) }
        writer.append(list: wakes) { $0.append($1) }
        writer.append(list: urls) { $0.append($1) }
        writer.append(optional: presentation) { $0.append($1) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        (isVisible, isFocused, isTerminating) = (try reader.boolean(), try reader.boolean(), try reader.boolean())
        graceEnd = try reader.optional { (reader) throws(WireError) in try reader.duration() }
        wakes = try reader.list { (reader) throws(WireError) in try ApplicationRecord.WakeRecord(from: &reader) }
        urls = try reader.list { (reader) throws(WireError) in try reader.text() }
        presentation = try reader.optional { (reader) throws(WireError) in try PresentationMessage(from: &reader) }
    }
}
