package import EideticCore
import EideticLifecycle
import EideticSupervision

// Fields with numbers, which never change: supervisors of different versions read each other's records.

extension ApplicationRecord: WireEncodable, WireDecodable {
    /// The number of the format, not of its fields.
    private static let version: UInt8 = 4

    package func write(to writer: inout WireWriter) {
        writer.append(Self.version)
        writer.append(field: 1) { $0.append(optional: program) { $0.append($1) } }
        writer.append(field: 2) { $0.append(wasForceQuit) }
        writer.append(field: 3) { $0.append(launchCrashCount) }
        writer.append(field: 4) { $0.append(processNumber) }
        if let process { writer.append(field: 5) { $0.append(process) } }
        writer.append(field: 6) { $0.append(list: waitingWakes) { $0.append($1) } }
        writer.append(field: 7) { $0.append(list: waitingURLs) { $0.append($1.text) } }
        if let waitingLaunch { writer.append(field: 8) { $0.append(waitingLaunch.rawValue) } }
        writer.append(field: 9) { $0.append(list: waitingURLs) { $0.append($1.source ?? "") } }
        writer.append(field: 11) { $0.append(list: waitingURLs) { $0.append($1.token) } }
        writer.append(field: 10) { writer in
            writer.append(list: wakeCrashCounts.sorted { $0.key.rawValue < $1.key.rawValue }) {
                $0.append($1.key.rawValue)
                $0.append($1.value)
            }
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        let version = try reader.integer(UInt8.self)
        guard version == Self.version else { throw .unknownCase(type: "ApplicationRecord", value: UInt64(version)) }
        var fields = try RecordFields(from: &reader)
        program = try fields.take(1, or: nil) { (reader) throws(WireError) in
            try reader.optional { (reader) throws(WireError) in try ProgramDescription(from: &reader) }
        }
        wasForceQuit = try fields.take(2, or: false) { (reader) throws(WireError) in try reader.boolean() }
        launchCrashCount = try fields.take(3, or: 0) { (reader) throws(WireError) in try reader.integer() }
        processNumber = try fields.take(4, or: 0) { (reader) throws(WireError) in try reader.integer() }
        process = try fields.take(5, or: nil) { (reader) throws(WireError) in try ProcessRecord(from: &reader) }
        waitingWakes = try fields.take(6, or: []) { (reader) throws(WireError) in
            try reader.list { (reader) throws(WireError) in try WakeRecord(from: &reader) }
        }
        let counts = try fields.take(10, or: []) { (reader) throws(WireError) in
            try reader.list { (reader) throws(WireError) in
                (try reader.enumeration(WakeReason.Kind.self), try reader.integer(UInt32.self))
            }
        }
        wakeCrashCounts = Dictionary(counts) { max($0, $1) }
        waitingURLs = try fields.takeURLs(7, sources: 9, tokens: 11)
        waitingLaunch = try fields.take(8, or: nil) { (reader) throws(WireError) in
            try reader.enumeration(WaitingLaunch.self)
        }
    }
}

extension ApplicationRecord.ProcessRecord: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(field: 1) { $0.append(identifier) }
        writer.append(field: 2) { $0.append(startTime) }
        writer.append(field: 3) { $0.append(freezer.rawValue) }
        if let state { writer.append(field: 4) { $0.append(state.rawValue) } }
        writer.append(field: 5) { $0.append(isBackgroundLaunch) }
        writer.append(field: 6) { $0.append(list: assertions.map(\.rawValue).sorted()) { $0.append($1) } }
        writer.append(field: 7) { $0.append(declarations) }
        if let suspensionTime { writer.append(field: 8) { $0.append(suspensionTime) } }
        if let killReport { writer.append(field: 9) { $0.append(killReport) } }
        if let groupPath { writer.append(field: 10) { $0.append(groupPath) } }
        writer.append(field: 11) { $0.append(intention) }
        writer.append(field: 12) { $0.append(list: memoryPriorities) { $0.append($1) } }
        writer.append(field: 13) { writer in
            writer.append(list: progressNumbers.sorted { $0.key < $1.key }) {
                $0.append($1.key)
                $0.append($1.value)
            }
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        var fields = try RecordFields(from: &reader)
        identifier = try fields.take(1, or: 0) { (reader) throws(WireError) in try reader.integer() }
        startTime = try fields.take(2, or: 0) { (reader) throws(WireError) in try reader.integer() }
        let name = try fields.take(3, or: "") { (reader) throws(WireError) in try reader.text(limit: 16) }
        freezer = FreezerKind(rawValue: name) ?? .signals
        state = try fields.take(4, or: nil) { (reader) throws(WireError) in
            try reader.enumeration(AdoptedProcess.State.self)
        }
        isBackgroundLaunch = try fields.take(5, or: false) { (reader) throws(WireError) in try reader.boolean() }
        assertions = try fields.take(6, or: []) { (reader) throws(WireError) in
            let numbers = try reader.list(limit: 64) { (reader) throws(WireError) in try reader.integer(UInt8.self) }
            return Set(numbers.compactMap { ContinuousAssertion(rawValue: $0) })
        }
        declarations = try fields.take(7, or: Hello.Declarations()) { (reader) throws(WireError) in
            try Hello.Declarations(from: &reader)
        }
        suspensionTime = try fields.take(8, or: nil) { (reader) throws(WireError) in try reader.duration() }
        killReport = try fields.take(9, or: nil) { (reader) throws(WireError) in try reader.text() }
        groupPath = try fields.take(10, or: nil) { (reader) throws(WireError) in try reader.text() }
        intention = try fields.take(11, or: .init()) { (reader) throws(WireError) in try .init(from: &reader) }
        memoryPriorities = try fields.take(12, or: []) { (reader) throws(WireError) in
            try reader.list { (reader) throws(WireError) in try .init(from: &reader) }
        }
        let numbers = try fields.take(13, or: []) { (reader) throws(WireError) in
            try reader.list { (reader) throws(WireError) in (try reader.text(), try reader.integer(UInt32.self)) }
        }
        progressNumbers = Dictionary(numbers) { $1 }
    }
}

extension ApplicationRecord.Intention: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(field: 1) { $0.append(isVisible) }
        writer.append(field: 2) { $0.append(isFocused) }
        writer.append(field: 3) { $0.append(isTerminating) }
        if let graceEnd { writer.append(field: 4) { $0.append(graceEnd) } }
        writer.append(field: 5) { $0.append(list: wakes) { $0.append($1) } }
        writer.append(field: 6) { $0.append(list: urls) { $0.append($1.text) } }
        if let presentation { writer.append(field: 7) { $0.append(presentation) } }
        writer.append(field: 8) { $0.append(list: urls) { $0.append($1.source ?? "") } }
        writer.append(field: 9) { $0.append(list: urls) { $0.append($1.token) } }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        var fields = try RecordFields(from: &reader)
        isVisible = try fields.take(1, or: true) { (reader) throws(WireError) in try reader.boolean() }
        isFocused = try fields.take(2, or: true) { (reader) throws(WireError) in try reader.boolean() }
        isTerminating = try fields.take(3, or: false) { (reader) throws(WireError) in try reader.boolean() }
        graceEnd = try fields.take(4, or: nil) { (reader) throws(WireError) in try reader.duration() }
        wakes = try fields.take(5, or: []) { (reader) throws(WireError) in
            try reader.list { (reader) throws(WireError) in try ApplicationRecord.WakeRecord(from: &reader) }
        }
        urls = try fields.takeURLs(6, sources: 8, tokens: 9)
        presentation = try fields.take(7, or: nil) { (reader) throws(WireError) in
            try PresentationMessage(from: &reader)
        }
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

extension ApplicationRecord.MemoryPriority: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        for number in [process, own, written] { writer.append(number) }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init(process: try reader.integer(), own: try reader.integer(), written: try reader.integer())
    }
}

extension RecordFields {
    /// Removes a field with the texts of URLs, and one with the identifiers of the applications that asked.
    fileprivate mutating func takeURLs(
        _ texts: UInt8,
        sources: UInt8,
        tokens: UInt8
    ) throws(WireError) -> [ApplicationRecord.URLRecord] {
        let texts = try take(texts, or: []) { (reader) throws(WireError) in try reader.texts() }
        let sources = try take(sources, or: []) { (reader) throws(WireError) in try reader.texts() }
        let tokens = try take(tokens, or: []) { (reader) throws(WireError) in
            try reader.list { (reader) throws(WireError) in try reader.integer(UInt64.self) }
        }
        return texts.enumerated().map { index, text in
            let source = index < sources.count && !sources[index].isEmpty ? sources[index] : nil
            let token = index < tokens.count ? tokens[index] : 0
            return ApplicationRecord.URLRecord(text: text, source: source, token: token)
        }
    }
}

extension WireReader {
    fileprivate mutating func texts() throws(WireError) -> [String] {
        try list { (reader) throws(WireError) in try reader.text() }
    }
}
