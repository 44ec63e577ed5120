-- counterPicture (name [, folder [, digits = 6]])
-- The next count of a page as the picture of an odometer, in SVG, which stands
-- in a page as it is. /counter.svg.fcgi?name=home gives it to an img element.
-- > counterPicture ("example", "site", 4):match ("aria.label=(.-)>")
-- = "1"
local name, folder, digits = ...
local shown = counter (name, folder):gsub (",", "")
return webserver.util.odometer (shown, digits)
