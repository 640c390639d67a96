-- usage: wrk OPTION… --script requests.lua URL -- PATH [COUNT]
-- Asks for PATH1, PATH2 and so on, and ends after COUNT answers. For one thread.
local path, limit
local asked, answered = 0, 0

function init(arguments)
    path = arguments[1]
    limit = tonumber(arguments[2] or math.huge)
end

function request()
    asked = asked + 1
    return wrk.format("GET", path .. asked)
end

function response(status)
    if status ~= 200 then
        io.stderr:write("status ", status, "\n")
        os.exit(1)
    end
    answered = answered + 1
    -- wrk itself would go on until its time is over.
    if answered >= limit then os.exit(0) end
end
