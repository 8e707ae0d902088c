package import EideticCore
package import EideticLifecycle

/// The state of one application, as `eidetic app list` prints it.
package struct ApplicationStatus: Sendable, Hashable {
    /// The means by which the process is suspended.
    package enum Freezer: UInt8, Sendable, Hashable, CaseIterable {
        case none
        /// A control group of version 2.
        case controlGroup
        /// SIGSTOP, because no control group can be used.
        case signal
    }

    package var identifier: String
    package var state: LifecycleState
    /// The number of the process; `nil` if none runs.
    package var process: Int32?
    package var freezer = Freezer.none
    package var openTasks: UInt32 = 0
    /// The remaining background time; `nil` if none runs or it has no limit.
    package var backgroundTimeRemaining: Duration?
    package var suspensionCount: UInt64 = 0
    package var suspendedTime: Duration = .zero
    /// The resident memory of all its processes, in bytes; 0 if unknown.
    package var residentMemory: UInt64 = 0
    /// A Boolean value indicating whether the user ended it.
    package var wasForceQuit = false
    /// The report of the last end of a process; `nil` if none has ended.
    package var lastExit: String?
    /// The file with a snapshot of its window; `nil` if there is none.
    package var snapshotPath: String?

    package init(identifier: String, state: LifecycleState) { (self.identifier, self.state) = (identifier, state) }
}

extension ApplicationStatus: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(identifier)
        writer.append(state.rawValue)
        writer.append(optional: process) { $0.append($1) }
        writer.append(freezer.rawValue)
        writer.append(openTasks)
        writer.append(optional: backgroundTimeRemaining) { $0.append($1) }
        writer.append(suspensionCount)
        writer.append(suspendedTime)
        writer.append(residentMemory)
        writer.append(wasForceQuit)
        writer.append(optional: lastExit) { $0.append($1) }
        writer.append(optional: snapshotPath) { $0.append($1) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init(identifier: try reader.identifier(), state: try reader.enumeration(LifecycleState.self))
        process = try reader.optional { (reader) throws(WireError) in try reader.integer() }
        freezer = try reader.enumeration(Freezer.self)
        openTasks = try reader.integer()
        backgroundTimeRemaining = try reader.optional { (reader) throws(WireError) in try reader.duration() }
        suspensionCount = try reader.integer()
        suspendedTime = try reader.duration()
        residentMemory = try reader.integer()
        wasForceQuit = try reader.boolean()
        lastExit = try reader.optional { (reader) throws(WireError) in
            try reader.text(limit: SupervisionProtocol.pathLimit)
        }
        snapshotPath = try reader.optional { (reader) throws(WireError) in
            try reader.text(limit: SupervisionProtocol.pathLimit)
        }
    }
}
