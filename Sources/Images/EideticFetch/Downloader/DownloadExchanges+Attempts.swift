import EideticCore

/// The attempts of a download, until one succeeds.
extension DownloadExchanges {
    /// Performs attempts until one succeeds, or the last one has failed.
    func replyAfterRetries(
        to download: Download,
        firstOutcome: ExchangeOutcome? = nil,
        resuming interruptedBody: PartialBody? = nil
    ) async throws(DownloadFailure) -> DownloadReply {
        let request = download.request
        var partialBody = interruptedBody
        if partialBody == nil, firstOutcome == nil { partialBody = await parts.take(of: request) }
        var knownOutcome = firstOutcome
        var attempts = Attempts(of: request, configuration: configuration)
        while true {
            do throws(DownloadFailure) {
                var reply = try await followRedirects(of: download, resuming: partialBody, firstOutcome: knownOutcome)
                reply.outcome.countAttempts(attempts.count)
                return reply
            } catch {
                knownOutcome = nil
                partialBody = error.partialBody
                if await waitForNetwork(download, after: error.error) { continue }
                let decision = attempts.next(after: error, random: .random(in: 0..<1), budget: state.withdrawRetry)
                if case .retry(let delay) = decision {
                    Log.write(.info, category: .fetch, message: "retrying in \(delay): \(error.error.message)")
                    await state.wait(for: delay)
                }
                let stopError = decision == .stop ? nil : stopError(for: download)
                if decision != .stop, stopError == nil { continue }
                // The remainder may be loaded later.
                if error.error.isTransient || [.offline, .cancelled].contains(error.error.code) {
                    await parts.keep(partialBody, of: request, since: download.partOrigin)
                }
                throw stopError.map { DownloadFailure(error: $0) } ?? error
            }
        }
    }

    /// Waits until the network is back, if it is missing and the downloader waits for it.
    ///
    /// - Returns: `true` if the network is back after a wait; `false` if the failure has another cause, or the download
    ///   was cancelled.
    private func waitForNetwork(_ download: Download, after error: EideticError) async -> Bool {
        let request = download.request
        guard configuration.waitsForConnectivity, request.isIdempotent, error.mayLackNetwork else { return false }
        var changeCount = state.networkChangeCount
        guard await !isNetworkAvailable() else { return false }
        Log.write(.info, category: .fetch, message: "\(request.url): waits for the network: \(error.message)")
        configuration.onWaitingForConnectivity?(request)
        repeat {
            // A system may not tell of its changes.
            await state.wait(for: .seconds(30), orChangeAfter: changeCount)
            if download.context.isCancelled || Task.isCancelled || scheduler.isOffline { return false }
            changeCount = state.networkChangeCount
        } while await !isNetworkAvailable()
        return true
    }

    private func isNetworkAvailable() async -> Bool {
        (try? await pool.run { [path = configuration.networkPath] _ in path.isAvailable }) ?? true
    }

    /// Returns the error that ends a download before its next attempt, or `nil`.
    private func stopError(for download: Download) -> EideticError? {
        if download.context.isCancelled { return .cancelled }
        return scheduler.isOffline ? .offline(url: download.request.url) : nil
    }
}

extension EideticError {
    static func offline(url: String) -> EideticError {
        EideticError(.offline, message: "\(url): no request was sent because the downloader is offline")
    }
}
