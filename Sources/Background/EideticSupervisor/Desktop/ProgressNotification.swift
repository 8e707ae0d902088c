import EideticDBus

/// A notification that shows the progress of work, and with which the user cancels it.
struct ProgressNotification {
    /// The identifier and the name of the application, and its icon.
    let identifier: String
    let name: String
    let icon: String
    let title: String
    let text: String
    /// The progress, 0 to 100.
    let percent: Int
    /// The name of the work within the application.
    let work: String

    static let cancelAction = "cancel"
}

extension NotificationInterface {
    /// Returns the call that shows a notification of progress in place of an earlier one.
    func call(for progress: ProgressNotification, replacing number: UInt32) -> (
        member: String, values: [BusValue]
    ) {
        let cancel = ProgressNotification.cancelAction, text = "\(progress.text)\n\(progress.percent) %"
        switch self {
        case .desktop:
            let hints: [(String, BusValue)] = [
                ("desktop-entry", .string(progress.identifier)), ("value", .int32(Int32(progress.percent))),
                ("suppress-sound", .boolean(true)), ("resident", .boolean(true)),
            ]
            let actions = ["default", "", cancel, "Cancel"].map { BusValue.string($0) }
            return (
                "Notify",
                [
                    .string(progress.name), .uint32(number), .string(progress.icon), .string(progress.title),
                    .string(Self.escaped(text)), .array(signature: "s", actions), .dictionary(hints), .int32(0),
                ]
            )
        case .portal:
            let button = BusValue.dictionary([("label", .string("Cancel")), ("action", .string(cancel))])
            let entries: [(String, BusValue)] = [
                ("title", .string(progress.title)), ("body", .string(text)), ("default-action", .string("default")),
                ("buttons", .array(signature: "a{sv}", [button])),
            ]
            let reference = Self.portalName(ofWork: progress.work, application: progress.identifier)
            return ("AddNotification", [.string(reference), .dictionary(entries)])
        }
    }

    /// Returns the name by which the portal knows a notification of progress, other than that of any other one.
    static func portalName(ofWork work: String, application: String) -> String {
        "work:" + portalName(of: work, application: application)
    }

    func removal(ofWork work: String, number: UInt32, application: String) -> (
        member: String, values: [BusValue]
    ) {
        switch self {
        case .desktop: ("CloseNotification", [.uint32(number)])
        case .portal: ("RemoveNotification", [.string(Self.portalName(ofWork: work, application: application))])
        }
    }
}
