package reshardctl.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Runs many applications of one release of the library, several at a time, in one process.
 *
 * <p>Standard input, one request a line, fields parted by tabs: {@code start NAME key=value …}
 * (the keys are {@link Request}'s), {@code stop NAME}. Its end ends the process. Standard output:
 * one JSON object a line, see {@link Events}.
 */
public final class Runner {
    private final Map<String, Application> applications = new ConcurrentHashMap<>();

    private Runner() {}

    public static void main(String[] arguments) throws Exception {
        LogTap.install();
        Events.say("", "READY");
        var runner = new Runner();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            runner.obey(line.split("\t"));
        }
        // Threads of libraries are not all daemons, and there is nothing left to finish.
        Runtime.getRuntime().halt(0);
    }

    private void obey(String[] fields) {
        switch (fields[0]) {
            case "start" -> start(Request.parse(fields));
            case "stop" -> stop(fields[1]);
            default -> throw new IllegalArgumentException("no such request: " + fields[0]);
        }
    }

    /** Each application has a thread group of its own, by which the log knows whose a line is. */
    private void start(Request request) {
        var group = new ThreadGroup(request.name());
        new Thread(group, () -> run(request), request.name()).start();
    }

    /** On a thread of its own: the library lets nobody stop it while it starts. */
    private void stop(String name) {
        var application = applications.get(name);
        if (application != null) {
            new Thread(application::stop, "stop " + name).start();
        }
    }

    private void run(Request request) {
        try {
            var application = Isolated.application();
            applications.put(request.name(), application);
            Events.say(request.name(), "STARTED");
            var asked = application.run(request);
            Events.say(request.name(), asked ? "STOPPED" : "DIED");
        } catch (Exception | LinkageError failure) {
            Events.say(request.name(), "DIED", "text", failure.toString());
        } finally {
            applications.remove(request.name());
        }
    }
}
