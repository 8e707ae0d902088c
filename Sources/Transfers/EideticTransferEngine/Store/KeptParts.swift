import EideticCore
import EideticFetch
import EideticTransfer
import Glibc

/// The parts of cancelled downloads, which are kept for the application to continue them.
struct KeptParts {
    /// The greatest number of parts of an application, and the time for which they are kept.
    private static let limit = 16
    private static let lifetime: Duration = .seconds(7 * 86_400)

    let store: TransferStore
    let syncWorker: SyncWorker

    private var files: FileSystem { store.fileSystem }

    /// Moves the part of a download to the files that are kept; returns the data that continue it.
    func keep(_ number: UInt64) -> [UInt8]? {
        guard let row = store.rows[number], let session = store.sessions[row.session],
            let part = try? store.part(of: row), part.validator != nil,
            let request = try? store.request(of: row).request
        else { return nil }
        let token =
            String(UInt64.random(in: 1 << 60 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
        let application = session.application
        let path = application.keptPath(token)
        guard (try? files.rename(application.partPath(number), to: path)) != nil else { return nil }
        removeOld(of: application)
        synchronise(path)
        // The header fields are not a part of the data, which the application stores.
        var kept = part
        kept.headers = part.headers.removing(["Set-Cookie"])
        let data = WireWriter.encode(ResumeData(token: token, part: kept, url: request.url))
        return data.count <= TransferLimits.resumeDataLength ? data : nil
    }

    /// Makes a kept part safe before the journal, and so before the event that has its data; removes it otherwise.
    private func synchronise(_ path: String) {
        let files = files
        syncWorker.add(
            .work {
                do throws(SystemError) {
                    try files.synchronizeData(try files.open(path, flags: O_RDONLY))
                } catch {
                    files.removeIfPresent(path)
                }
            }
        )
    }

    private func removeOld(of application: TransferApplication) {
        let directory = "\(application.directory)/kept"
        let found = ((try? files.entryNames(in: directory)) ?? []).compactMap { name in
            (try? files.status(of: "\(directory)/\(name)")).map { (name, $0.modificationTime) }
        }.sorted { $0.1 > $1.1 }
        for (index, file) in found.enumerated()
        where index >= Self.limit || store.time.now - file.1 > Self.lifetime {
            files.removeIfPresent("\(directory)/\(file.0)")
        }
    }

    /// Makes a new download continue the part of a cancelled one, if that is still there.
    func restore(_ data: ResumeData, for number: UInt64, of application: TransferApplication) {
        guard (try? files.status(of: application.keptPath(data.token))) != nil,
            (try? store.record(data.part, of: number)) != nil,
            (try? files.rename(application.keptPath(data.token), to: application.partPath(number))) != nil
        else { return }
        let size = (try? files.status(of: application.partPath(number)).size) ?? 0
        store.rows[number]?.completed = size
        store.setDiskBytes(size, of: number)
    }
}
