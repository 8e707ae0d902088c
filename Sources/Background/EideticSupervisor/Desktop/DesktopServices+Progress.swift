import EideticDBus

// The notifications of the progress of work that the user has started.
extension DesktopServices {
    private static let answerLimit: Duration = .seconds(10)

    /// Shows progress, and passes the answer of the server to the application.
    func show(_ work: ContinuedWork, named name: String, of application: SupervisedApplication) {
        guard let bus = session?.connection else { return }
        let progress = ProgressNotification(
            identifier: application.identifier,
            name: application.program.manifest.manifest?.name ?? application.identifier,
            icon: application.program.manifest.manifest?.icon ?? "",
            title: work.title,
            text: work.subtitle,
            percent: work.percent,
            work: name
        )
        let (member, values) = notificationsInterface.call(for: progress, replacing: work.notification.number)
        bus.call(member, on: notificationsInterface.target, with: values, timeout: Self.answerLimit) {
            [weak application] result in
            guard let application else { return }
            let number: UInt32? =
                switch result {
                case .success(let values): values.first?.number ?? 0
                case .failure: nil
                }
            let works = application.components.work
            let view = application.view
            let effects = works.recordAnswer(number, to: work, named: name, in: view)
            application.saveRecord()
            application.perform(effects)
        }
    }

    func withdrawProgress(_ number: UInt32, work: String, of application: String) {
        let (member, values) = notificationsInterface.removal(ofWork: work, number: number, application: application)
        session?.connection?.call(member, on: notificationsInterface.target, with: values)
    }
}
